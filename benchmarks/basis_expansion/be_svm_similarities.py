"""The similarities of the BE-SVM paper by its names, and the four that it joins."""

# H and the size of a cell; L linear, R Gaussian, (h_R, h_L) rigid and local displacement.
SIMILARITIES = {
    "H4L": "hog:cell=4/linear",
    "H8L": "hog:cell=8/linear",
    "H4R": "hog:cell=4/rbf:gamma=1",
    "H8R": "hog:cell=8/rbf:gamma=1",
    "H4(1,0)": "hog:cell=4/rigid:radius=1",
    "H4(2,0)": "hog:cell=4/rigid:radius=2",
    "H4(0,1)": "hog:cell=4/deformable:rigid=0,local=1",
    "H4(1,1)": "hog:cell=4/deformable:rigid=1,local=1",
    "H4(2,1)": "hog:cell=4/deformable:rigid=2,local=1",
    "H8(1,0)": "hog:cell=8/rigid:radius=1",
    "H8(0,1)": "hog:cell=8/deformable:rigid=0,local=1",
    "H8(1,1)": "hog:cell=8/deformable:rigid=1,local=1",
}

M2 = ("H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)")
