import numpy as np

from limo._solvers.problem import Solution, Status


def test_a_solution_reads_as_a_sentence():
    found = Solution(np.zeros((1, 1)), 0.25, 0.001, 0.004, 7, 16, 0.5, True, Status.CONVERGED.value)
    assert found.converged
    assert str(found) == (
        "The objective is within the tolerance of the best possible one. Objective 0.25, proven to "
        "be within 0.40% of the minimum; 7 iterations, 16 passes over X, 0.50 s."
    )
