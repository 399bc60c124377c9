"""
Strings
=======

The language of a surname. With nothing given, a fit compares edit distances, alignments and character n-grams by
leave-one-out; here the edit distance is given.
"""

# %%
# Common surnames of three countries:
import matplotlib.pyplot as plt
import numpy as np

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
# Three lines:
svc = wm.BasisExpansionSVC("edit").fit(names, languages)
print(svc.predict(["Martinelli", "Wisniewski", "Axelsson"]))
print(svc.similarities_, svc.C_, svc.estimated_score_)

# %%
# Names that are similar lie close together: the two largest eigenvectors of their similarities, without labels.
similarities = wm.similarity.pairwise("edit", names, names)
centred = similarities - similarities.mean(axis=0) - similarities.mean(axis=1)[:, None] + similarities.mean()
values, vectors = np.linalg.eigh((centred + centred.T) / 2)
places = vectors[:, -2:] * np.sqrt(values[-2:])
figure, ax = plt.subplots(figsize=(6, 3.75), layout="constrained")
for language, colour in zip(SURNAMES, ("#009E73", "#D55E00", "#0072B2"), strict=True):
    of_it = [place for place, one in enumerate(languages) if one == language]
    ax.scatter(*places[of_it].T, s=0, label=language)
    for place in of_it[::2]:
        ax.text(*places[place], names[place], color=colour, fontsize=8, ha="center", va="center")
    ax.text(*places[of_it].mean(axis=0), language, color=colour, fontsize=15, ha="center", va="center", alpha=0.35)
ax.axis("off")
plt.show()
