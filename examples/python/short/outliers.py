"""
Outliers
========

Three dense regions of different shapes. `BasisExpansionOneClass` learns where samples are usual, without any outlier
in training; the threshold follows from the expected share of outliers.
"""

# %%
# Usual samples, for training and for testing:
import matplotlib.pyplot as plt
import numpy as np

import widemargin as wm


def usual(n, rng):
    """Points on a half ring, in a round cloud and in a flat one."""
    angle = rng.uniform(0, np.pi, n)
    ring = np.c_[3 * np.cos(angle), 3 * np.sin(angle)] + rng.normal(0, 0.2, (n, 2))
    cloud = rng.normal([0, 0.3], 0.4, (n, 2))
    flat = rng.normal([0, -2.5], [1.6, 0.2], (n, 2))
    return np.where(rng.integers(0, 3, n)[:, None] == np.arange(3)[:, None, None], [ring, cloud, flat], 0).sum(axis=0)


rng = np.random.default_rng(0)
X, X_test = usual(600, rng), usual(2000, rng)

# %%
# Two lines:
detector = wm.BasisExpansionOneClass("rbf:gamma=3", quantile=0.05).fit(X)
detector.predict([[0, 3], [0, 1.7], [4, -4]])

# %%
# The share of new usual samples that are predicted to be outliers; 5 % are expected:
(detector.predict(X_test) == -1).mean()

# %%
# The scores, about 1 where samples are usual and 0 far from them, the threshold, and new samples:
ticks = np.linspace(-5, 5, 200)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
scores = detector.score_samples(grid).reshape(len(ticks), -1)
figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
drawn = ax.contourf(ticks, ticks, scores, levels=np.linspace(0, 1.2, 13), cmap="Blues", extend="both")
ax.contour(ticks, ticks, scores, levels=[detector.offset_], colors="#D55E00", linewidths=2)
shown = X_test[:600]
outliers = detector.predict(shown) == -1
ax.scatter(*shown[~outliers].T, s=8, color="k", alpha=0.5)
ax.scatter(*shown[outliers].T, s=40, color="#D55E00", marker="x")
figure.colorbar(drawn, label="score")
ax.set(xticks=[], yticks=[])
plt.show()
