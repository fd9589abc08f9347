"""
Check the paper's theory
========================

Table 2, the limit of Theorem 3, the bounds of Theorems 4 and 5. Every tick is tested on generated
predictors, every cross is shown by a counterexample. Tables (Markdown, CSV, LaTeX) and pictures
(SVG, PNG) are written to ``output/theory`` in the current folder; a second run only draws.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import limo

output = Path("output") / "theory"
found = limo.reproduce.theory(output, n_predictors=50, n_draws=3, n_worlds=6)
print("\n".join(found.findings))
print(f"{len(found.paths)} files in {output.name}")

# %%
# Table 2 of the paper, as measured: which margin decides which measure.

picture = plt.imread(next(path for path in found.paths if path.name == "table2.png"))
figure, ax = plt.subplots(figsize=(picture.shape[1] / 160, picture.shape[0] / 160))
ax.imshow(picture)
ax.axis("off")
ax.set_position((0, 0, 1, 1))
plt.show()
