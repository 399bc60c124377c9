"""
User-defined similarity
=======================

Opening hours: a sample is a list of intervals, not a vector. Any function of two samples can be a similarity.
"""

# %%
# Bakeries open early, bars late, and offices have a break, more or less:
import matplotlib.pyplot as plt
import numpy as np

import widemargin as wm

HOURS = {"bakery": [(6, 13), (15, 18)], "office": [(8, 12), (13, 17)], "bar": [(17, 26)]}
rng = np.random.default_rng(0)
y = rng.choice(list(HOURS), 240)
shops = [[tuple(hour + rng.normal(0, 1.2) for hour in interval) for interval in HOURS[kind]] for kind in y]
# Some have a shift only in the morning, or in the evening.
shops = [shop[: rng.integers(1, len(shop) + 1)] for shop in shops]
X, y, X_test, y_test = shops[:120], y[:120], shops[120:], y[120:]

# %%
# A function of two samples, and two lines:


@wm.similarity.pairs
def overlap(a, b):
    return sum(max(0, min(e, f) - max(s, t)) for s, e in a for t, f in b)


svc = wm.BasisExpansionSVC(overlap, n_basis=30).fit(X, y)
svc.predict([[(5, 12)], [(20, 27)]])

# %%
# The accuracy on new shops:
svc.score(X_test, y_test)

# %%
# Validation of the function:
print(wm.testing.check_similarity(overlap, X))

# %%
# The predictions for the first shops:
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
colors = dict(zip(HOURS, ("#E69F00", "#0072B2", "#CC79A7"), strict=True))
found = svc.predict(X_test)
order = sorted(range(30), key=lambda place: found[place])
for row, place in enumerate(order):
    for start, end in X_test[place]:
        ax.barh(row, end - start, left=start, height=0.7, color=colors[found[place]])
for kind, color in colors.items():
    ax.barh(0, 0, color=color, label=kind)
ax.legend(loc="upper left", frameon=False)
ax.set(yticks=[], xticks=range(6, 29, 6), xticklabels=["6:00", "12:00", "18:00", "24:00"])
ax.spines[["left", "top", "right"]].set_visible(False)
plt.show()
