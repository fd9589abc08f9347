"""Check the paper's theory: Table 2, Theorem 3's limit, the bounds of Theorems 4 and 5.

Every tick is tested on generated predictors, every cross is shown by a counterexample. Tables
(Markdown, CSV, LaTeX) and pictures (SVG, PNG) are written to ``output/theory``; a second run only
draws.
"""

from pathlib import Path

import limo

output = Path(__file__).parent / "output" / "theory"
found = limo.reproduce.theory(output, n_predictors=200, n_draws=20)
print("\n".join(found.findings))
print(f"{len(found.paths)} files in {output.name}")
