"""
Images
======

Digits at other positions than in training. ``rigid`` shifts the cells of each image to their best match with the
basis, so that training needs no shifted copies. It is not a kernel, which a basis expansion does not require.
"""

# %%
# Digits on a larger canvas: centered for training, shifted by four pixels for testing.
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import shift, zoom
from sklearn.datasets import load_digits

import widemargin as wm

small, y = load_digits(return_X_y=True)
large = zoom(small.reshape(-1, 8, 8) * 255 / 16, (1, 3, 3), order=1)
images = np.pad(large, ((0, 0), (8, 8), (8, 8))).astype(np.uint8)
X, y, X_test, y_test = images[:700], y[:700], images[700:1100], y[700:1100]
moves = np.random.default_rng(0).choice([-4, 4], (len(X_test), 2))
X_test = np.stack([shift(image, move, order=0) for image, move in zip(X_test, moves, strict=True)])

# %%
# Three lines:
svc = wm.BasisExpansionSVC("hog:cell=4/rigid:radius=2").fit(X, y)
svc.predict(X_test)
svc.score(X_test, y_test)

# %%
# For comparison, the same with a Gaussian, which does not shift:
wm.BasisExpansionSVC("hog:cell=4/rbf").fit(X, y).score(X_test, y_test)

# %%
# The predictions for the first digits:
found = svc.predict(X_test)
figure, axes = plt.subplots(3, 8, figsize=(6, 2.9), layout="constrained")
for ax, image, label, truth in zip(axes.flat, X_test, found, y_test, strict=False):
    ax.imshow(image, cmap="gray_r")
    ax.set_title(label, fontsize="medium", color="k" if label == truth else "#D55E00", pad=3)
    ax.set(xticks=[], yticks=[])
plt.show()
