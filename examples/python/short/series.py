"""
Time series
===========

Bumps and dips that come too early or too late. Dynamic time warping stretches one series to match the other; each
series is compared with sixty others, not with all.
"""

# %%
# Four patterns with warped clocks and noise:
import matplotlib.pyplot as plt
import numpy as np

import widemargin as wm

rng = np.random.default_rng(0)
y = rng.integers(0, 4, 400)
clock = np.linspace(0, 1, 80)
X = np.zeros((len(y), len(clock)))
for row, label in zip(X, y, strict=True):
    knots = np.concatenate([[0], np.cumsum(rng.dirichlet(np.ones(5)))])
    warped = np.interp(clock, np.linspace(0, 1, 6), knots)
    for sign, at in ((1 - 2 * (label // 2), 0.35), (1 - 2 * (label % 2), 0.65)):
        row += sign * np.exp(-(((warped - at) / 0.05) ** 2))
    row += rng.normal(0, 0.15, len(clock))
X, y, X_test, y_test = X[:200], y[:200], X[200:], y[200:]

# %%
# Three lines:
svc = wm.BasisExpansionSVC("dtw:window=0.3", n_basis=60).fit(X, y)
svc.predict(X_test)
svc.score(X_test, y_test)

# %%
# The selected C, and the estimated accuracy:
print(svc.C_, svc.estimated_score_)

# %%
# A few series of each predicted class:
found = svc.predict(X_test)
figure, axes = plt.subplots(2, 2, figsize=(6, 3.4), sharex=True, sharey=True, layout="constrained")
for ax, label, color in zip(axes.flat, range(4), ("#0072B2", "#E69F00", "#009E73", "#CC79A7"), strict=True):
    ax.plot(clock, X_test[found == label][:6].T, color=color, linewidth=1, alpha=0.8)
    ax.set(xticks=[], yticks=[])
plt.show()
