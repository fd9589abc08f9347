"""Names for the types of arrays that functions take and return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Anything = NDArray[Any]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.floating]  # scores, float32 or float64
Integers = NDArray[np.int64]
Values = NDArray[np.float64]  # what row functions give
