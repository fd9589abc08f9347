from dataclasses import replace

import numpy as np

from limo._solvers.problem import Iterates, Solution, Status


def test_a_solution_reads_as_a_sentence():
    W = np.zeros((1, 1))
    found = Solution(W, 7, 16, 0.5, Status.CONVERGED.value, 0.25, 0.001, 0.004, converged=True)
    assert found.converged
    assert str(found) == (
        "The objective is within the tolerance of the best possible one. Objective 0.25, proven to "
        "be within 0.40% of the minimum; 7 iterations, 16 passes over X, 0.50 s."
    )
    drawn = replace(found, status="Made 7 steps.", iterates=Iterates(W, W, (1, 0)))
    assert str(drawn) == "Made 7 steps. In all 7 iterations, 16 passes over X, 0.50 s."
    assert drawn._repr_html_() == f"<p>{drawn}</p>"
