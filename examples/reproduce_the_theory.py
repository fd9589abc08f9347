"""
Check the paper's theory
========================

Table 2, the limit of Theorem 3, the bounds of Theorems 4 and 5. Every tick is tested on generated
predictors, every cross is shown by a counterexample. Tables (Markdown, CSV, LaTeX) and pictures
(SVG, PNG) are written to ``output/theory`` in the current folder; a second run only draws.
"""

from pathlib import Path

import limo

output = Path("output") / "theory"
found = limo.reproduce.theory(output, n_predictors=200, n_draws=20)
print("\n".join(found.findings))
print(f"{len(found.paths)} files in {output.name}")
