"""
Explanation
===========

The prediction for a surname, as a sum over the names that it is compared with.
"""

# %%
# Surnames of three languages, compared by edit distance:
import matplotlib.pyplot as plt
import numpy as np

import widemargin as wm
from widemargin.inspection import explain

NAMES = {
    "Italian": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Costa Mancini",
    "Polish": "Nowak Kowalski Kowalczyk Kaminski Lewandowski Zielinski Szymanski Wozniak Dabrowski Kozlowski Mazur",
    "Swedish": "Andersson Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson Lindberg",
}
X = [name for names in NAMES.values() for name in names.split()]
y = [language for language, names in NAMES.items() for _ in names.split()]
svc = wm.BasisExpansionSVC("edit", normalization="mean_norm", C=1.0).fit(X, y)

# %%
# The contributions of the bases to the decision value of a new name, which they and the intercept add up to:
explanation = explain(svc, ["Wisniewski"])
contributions = explanation.for_class()
print(explanation)

# %%
# Bars to the right speak for the predicted language, bars to the left against it:
largest = np.argsort(np.abs(contributions))[-12:]
order = largest[np.argsort(contributions[largest])]
names = [svc.basis_[explanation.terms[at].index] for at in order]
figure, ax = plt.subplots(figsize=(6, 3.75), layout="constrained")
ax.barh(names, contributions[order], color=np.where(contributions[order] > 0, "#0072B2", "#D55E00"))
ax.axvline(0, color="0.3", linewidth=0.8)
ax.set(xlabel=f"contribution to {explanation.predicted}", title="Wisniewski")
plt.show()
