"""
Strings
=======

The language of a surname. By default, a fit compares edit distances, alignments and character n-grams by
leave-one-out; here the edit distance is fixed.
"""

# %%
# Common surnames of three countries:
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

import widemargin as wm

SURNAMES = {
    "Italian": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Costa "
    "Giordano Mancini Rizzo Lombardi Moretti Barbieri Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli Leone",
    "Polish": "Nowak Kowalski Kowalczyk Kaminski Lewandowski Zielinski Szymanski Wozniak Dabrowski Kozlowski Mazur "
    "Jankowski Kwiatkowski Wojciechowski Krawczyk Kaczmarek Piotrowski Grabowski Zajac Pawlowski Michalski Krol "
    "Wieczorek Jablonski Majewski Olszewski Dudek Stepien Malinowski",
    "Swedish": "Andersson Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson Pettersson "
    "Jonsson Jansson Hansson Bengtsson Lindberg Lindstrom Lindqvist Lindgren Berglund Bergstrom Sandberg "
    "Forsberg Sjoberg Wallin Engstrom Eklund Danielsson Lundin",
}
names = [name for text in SURNAMES.values() for name in text.split()]
languages = [language for language, text in SURNAMES.items() for _ in text.split()]

# %%
# Two lines:
svc = wm.BasisExpansionSVC("edit").fit(names, languages)
svc.predict(["Martinelli", "Wisniewski", "Axelsson"])

# %%
# The estimated accuracy:
print(svc.estimated_score_)

# %%
# Decision values of each name by five-fold cross-validation: the closer to a corner, the more certain.
places = cross_val_predict(svc, names, languages, cv=5, method="decision_function")
corners = np.stack([[np.sin(angle), np.cos(angle)] for angle in 2 * np.pi * np.arange(3) / 3])
places = places @ corners
figure, ax = plt.subplots(figsize=(6, 3.75), layout="constrained")
low, high = places.min(axis=0), places.max(axis=0)
ax.set(xlim=(low[0] - 0.3, high[0] + 0.5), ylim=(low[1] - 0.1, high[1] + 0.1))
# A name is drawn where there is room for it.
room, drawn = (high - low) * (0.17, 0.065), []
colors = dict(zip(SURNAMES, ("#009E73", "#D55E00", "#0072B2"), strict=True))
for language, color in colors.items():
    of_it = [place for place, one in zip(places, languages, strict=True) if one == language]
    drawn.append(np.mean(of_it, axis=0))
    ax.text(*drawn[-1], language, color=color, fontsize=22, ha="center", va="center", alpha=0.3)
for place, name, language in zip(places, names, languages, strict=True):
    if all((abs(place - other) > room).any() for other in drawn):
        drawn.append(place)
        ax.text(*place, name, color=colors[language], fontsize=10, ha="center", va="center")
ax.axis("off")
plt.show()
