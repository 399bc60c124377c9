"""
Is it a kernel?
===============

A kernel has no negative eigenvalue. `SpectrumDisplay` shows the negative eigenvalues of a similarity; the
basis expansion accepts kernels and other similarities.
"""

# %%
# Three similarities of the same digits. Best matches under displacements are not kernels:
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

from widemargin.inspection import SpectrumDisplay, spectrum

small = load_digits().images[:400]
images = np.pad(zoom(small * 255 / 16, (1, 3, 3), order=1), ((0, 0), (4, 4), (4, 4))).astype(np.uint8)
similarities = ["hog:cell=4/rbf", "hog:cell=4/rigid:radius=2", "hog:cell=4/deformable"]
for one in spectrum(similarities, images):
    print(one)

# %%
SpectrumDisplay.from_similarity(similarities, images)
plt.show()
