"""Functions compiled with numba.

Kernels take C-contiguous arrays and scalars and write only into arrays they were given. They do
not check their input: ``limo._checks`` did. They release the interpreter lock, so callers may run
them in several threads.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile ``function`` on its first call and cache the machine code for later processes."""
    return cast("Function", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
