"""
Read odd files
==============

Public data come in many formats, and many files are odd: labels at the front, values in sparse
braces, missing cells, rows of numbers without names. ``limo.read`` finds the labels in each, and an
error names the line.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import limo

folder = Path(mkdtemp())
files = {
    # MEKA says in the relation that the first two columns are labels
    "meka.arff": """@relation 'songs: -C 2'
@attribute calm {0,1}
@attribute sad {0,1}
@attribute tempo numeric
@attribute 'pitch (mean)' numeric
@data
1,0,0.4,0.9
{2 0.7, 3 0.1}
0,1,0.2,0.5
""",
    # columns are chosen by the start of their names; one value is missing
    "songs.csv": """tempo;pitch;tag_calm;tag_sad
0.4;0.9;1;0
0.7;;0;0
0.2;0.5;0;1
""",
    # the labels of an instance, then its nonzero features
    "songs.svm": """0 1:0.4 2:0.9
 1:0.7 2:0.1
1 1:0.2 2:0.5
""",
}
for name, text in files.items():
    (folder / name).write_text(text)

found = {
    "meka.arff": limo.read(folder / "meka.arff"),
    "songs.csv": limo.read(folder / "songs.csv", labels="tag_*", missing="mean"),
    "songs.svm": limo.read(folder / "songs.svm"),
}
for name, data in found.items():
    print(f"{name:12} {data}")

# %%
# Above, the file; below, what limo read: features in blue, labels in orange.

figure, axes = plt.subplots(2, 3, figsize=(10, 4), layout="constrained", height_ratios=[1.4, 1])
for (above, below), (name, data) in zip(axes.T, found.items(), strict=True):
    above.text(0, 1, files[name], family="monospace", fontsize=8, va="top")
    above.set_title(name)
    above.axis("off")
    X, Y = (A.toarray() if sparse.issparse(A) else np.asarray(A) for A in (data.X, data.Y))
    for start, values, colours in ((0, X, "Blues"), (X.shape[1], Y, "Oranges")):
        extent = (start, start + values.shape[1], len(values), 0)
        below.imshow(values, cmap=colours, vmin=0, vmax=1.6, extent=extent, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            below.text(start + column + 0.5, row + 0.5, f"{value:g}", ha="center", va="center")
    names = [*(data.feature_names or range(X.shape[1])), *(data.label_names or range(Y.shape[1]))]
    below.set_xlim(0, len(names))
    below.set_xticks(np.arange(len(names)) + 0.5, names, fontsize=8)
    below.set_yticks([])
    below.tick_params(length=0)
plt.show()

# %%
# A damaged file is an error that says where and what to do. Nothing is returned by halves.

(folder / "songs.csv").write_text(files["songs.csv"].replace("0.5", "loud"))
try:
    limo.read(folder / "songs.csv", labels="tag_*", missing="mean", nominal="error")
except ValueError as error:
    print(str(error).replace(str(folder), "..."))
