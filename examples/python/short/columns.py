"""
Columns that matter
===================

Four of twenty columns determine the class. `BasisExpansionSVC` learns a weight for each column, and
`feature_importances_` has their shares.
"""

# %%
# Two curved effects and an interaction, with noise:
import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import permutation_importance

import widemargin as wm

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + abs(X[:, 3]) + 0.1 * rng.normal(size=2000) > 0.8

# %%
# The similarity with the learned weights:
svc = wm.BasisExpansionSVC(random_state=0).fit(X[:1000], y[:1000])
print(f"expects {svc.estimated_score_:.3f}, finds {svc.score(X[1000:], y[1000:]):.3f}")

# %%
# scikit-learn's permutation importance is how much the accuracy on new samples falls if the values of a column are
# shuffled. It needs predictions, but no weights:
permuted = permutation_importance(svc, X[1000:], y[1000:], n_repeats=5, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(7, 4), sharey=True, layout="constrained")
columns = np.arange(20)
axes[0].barh(columns, svc.feature_importances_, color="#0072B2")
axes[0].set(xlabel="feature_importances_", ylabel="column", yticks=columns)
axes[1].barh(columns, permuted.importances_mean, xerr=permuted.importances_std, color="#D55E00")
axes[1].set(xlabel="permutation importance")
axes[0].invert_yaxis()
plt.show()
