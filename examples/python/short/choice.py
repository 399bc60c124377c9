"""
Automatic selection
===================

By default, a fit compares candidates by leave-one-out before it trains on all samples. `PathDisplay` shows the
candidates.
"""

# %%
# All methods for vectors, each with its kernels or similarities:
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import widemargin as wm
from widemargin.inspection import PathDisplay

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), train_size=900, random_state=0)
auto = wm.AutoSVC(random_state=0).fit(X, y)
print(auto.best_estimator_)
print(f"expects {auto.estimated_score_:.3f}, finds {auto.score(X_test, y_test):.3f}")
PathDisplay.from_estimator(auto)
plt.show()

# %%
# Within a method, similarities are compared on at most 1,000 samples, and then values of C:
basis_expansion = wm.BasisExpansionSVC(random_state=0).fit(X, y)
print(basis_expansion.similarity_, basis_expansion.normalization_, basis_expansion.C_)
PathDisplay.from_estimator(basis_expansion)
plt.show()
