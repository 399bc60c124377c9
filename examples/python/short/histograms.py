"""
Histograms
==========

Colours of small squares of two photographs. `PowerMeanSVC` has additive kernels for histograms and counts, and chooses
among them, and C, by leave-one-out.
"""

# %%
# Each square is described by how many of its pixels have each of 64 colours. The left half of each photograph is for
# training, the right half for testing:
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_images

import widemargin as wm

SIDE = 32


def histograms_of(photograph):
    """The counts of 4 x 4 x 4 colours in every square, and the squares' corners."""
    corners = [(x, y) for y in range(0, 416, SIDE) for x in range(0, 640, SIDE)]
    colours = (photograph // 64).astype(int) @ (16, 4, 1)
    return [np.bincount(colours[y : y + SIDE, x : x + SIDE].ravel(), minlength=64) for x, y in corners], corners


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
print(svc.tried_[0]["kernel"], svc.C_, svc.score(X_test, y_test))

# %%
# Squares of the right halves that it takes for the other photograph:
figure, axes = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained")
for ax, photograph, name in zip(axes, photographs, ("temple", "flower"), strict=True):
    ax.imshow(photograph)
    ax.axvline(320, color="w", linewidth=1.5)
    of_this = ~left & (names == name)
    for corner in corners[of_this][svc.predict(counts[of_this]) != name]:
        ax.add_patch(Rectangle(corner, SIDE, SIDE, fill=False, edgecolor="#FFD500", linewidth=2))
    ax.set_title(name, fontsize="medium")
    ax.axis("off")
plt.show()
