"""Why the crosses of Table 2 are crosses: small predictors, found by hand.

Each is effective in the way of its key and yet not perfect on the measures named.
"""

import numpy as np

IDENTITY = np.eye(2, dtype=int)

# (kind of effectiveness, measures it does not optimise, Y, S)
COUNTEREXAMPLES = [
    (
        "label-wise",
        # Row by row in order, but label 1 scores the second instance (5) above the first (1) that has it.
        ("macro_auc", "micro_auc", "macro_f1"),
        IDENTITY,
        np.array([[1.0, 0.0], [5.0, 6.0]]),
    ),
    (
        "instance-wise",
        # Column by column in order, but the second label outscores the first everywhere.
        (
            "ranking_loss",
            "one_error",
            "coverage",
            "average_precision",
            "instance_auc",
            "micro_auc",
            "instance_f1",
            "micro_f1",
        ),
        IDENTITY,
        np.array([[1.0, 5.0], [0.0, 6.0]]),
    ),
    (
        "double",
        # The entry (0, 1) beats its rivals in row and column only: 1, in the far corner, is lower.
        ("micro_auc",),
        np.eye(3, dtype=int),
        np.array([[10.0, 5.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
]
