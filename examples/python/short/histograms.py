"""
Histograms
==========

Colors of small squares of two photographs. `PowerMeanSVC` has additive kernels for histograms and counts, and selects
the kernel and C by leave-one-out.
"""

# %%
# Each square is described by the numbers of its pixels of each of 64 colors. The left half of each photograph is for
# training, the right half for testing:
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_images

import widemargin as wm

SIDE = 32


def histograms_of(photograph):
    """The counts of 4 x 4 x 4 colors in every square, and the squares' corners."""
    corners = [(x, y) for y in range(0, 416, SIDE) for x in range(0, 640, SIDE)]
    colors = (photograph // 64).astype(int) @ (16, 4, 1)
    return [np.bincount(colors[y : y + SIDE, x : x + SIDE].ravel(), minlength=64) for x, y in corners], corners


photographs = load_sample_images().images
parts = [histograms_of(photograph) for photograph in photographs]
counts = np.concatenate([histograms for histograms, _ in parts])
corners = np.concatenate([corners for _, corners in parts])
names = np.repeat(["temple", "flower"], [len(histograms) for histograms, _ in parts])
left = corners[:, 0] < 320
X, y, X_test, y_test = counts[left], names[left], counts[~left], names[~left]

# %%
# Three lines:
svc = wm.PowerMeanSVC().fit(X, y)
svc.predict(X_test)
svc.score(X_test, y_test)

# %%
# The compared kernels, with their leave-one-out loss, and the selected C:
results = svc.cv_results_
for params, score in zip(results["params"], results["mean_test_score"], strict=True):
    if "kernel" in params:
        print(params["kernel"], round(-score, 4))
print(svc.C_)

# %%
# Misclassified squares of the right halves, and the frequencies of their colors:
figure, axes = plt.subplots(2, 2, figsize=(6, 3.6), height_ratios=(3, 1), layout="constrained")
bins = np.stack(np.unravel_index(np.arange(64), (4, 4, 4)), axis=1) / 3
for (ax, below), photograph, name in zip(axes.T, photographs, ("temple", "flower"), strict=True):
    ax.imshow(photograph)
    ax.axvline(320, color="w", linewidth=1.5)
    of_this = ~left & (names == name)
    for corner in corners[of_this][svc.predict(counts[of_this]) != name]:
        ax.add_patch(Rectangle(corner, SIDE, SIDE, fill=False, edgecolor="#FFD500", linewidth=2))
    ax.axis("off")
    below.bar(range(64), counts[names == name].mean(axis=0), width=1, color=bins, edgecolor="0.6", linewidth=0.3)
    below.set(xticks=[], yticks=[], xlabel=f"colors of the {name}")
plt.show()
