"""Compiled code: small, boring, and at the bottom of the house.

Kernels take plain C-contiguous arrays and scalars, write only into arrays they were given,
and trust their input: the door (``limo._checks``) has been passed long before.
They run without the interpreter lock, so callers may share them out among threads.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

__all__ = ["kernel"]


Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile ``function`` on first use and keep the machine code for later processes."""
    return cast("Function", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
