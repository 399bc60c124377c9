"""
Vectors
=======

Two classes that are not linearly separable. `ThinPlateSVC` has no length scale to tune, and selects its C by
leave-one-out.
"""

# %%
# The points:
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

import widemargin as wm

X, y = make_moons(300, noise=0.25, random_state=0)
X_test, y_test = make_moons(2000, noise=0.25, random_state=1)

# %%
# Three lines:
svc = wm.ThinPlateSVC().fit(X, y)
svc.predict([[0.5, 0.0], [0.5, 1.0]])
svc.score(X_test, y_test)

# %%
# The selected parameters and the estimated accuracy, from the 300 points alone:
print(svc.similarity_, svc.C_, svc.estimated_score_)

# %%
# The boundary and the margins:
figure, ax = plt.subplots(figsize=(6, 3.75), layout="constrained")
DecisionBoundaryDisplay.from_estimator(svc, X, response_method="predict", cmap="coolwarm", alpha=0.25, eps=0.4, ax=ax)
DecisionBoundaryDisplay.from_estimator(
    svc, X, plot_method="contour", levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"], eps=0.4, ax=ax
)
ax.scatter(*X.T, c=y, cmap="coolwarm", s=18, edgecolor="k", linewidth=0.4)
ax.set(xticks=[], yticks=[])
plt.show()
