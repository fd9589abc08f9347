"""Whose words an error has: those of limo, or Python's own, which say nothing to the caller."""

import dis
from pathlib import Path
from types import TracebackType

import sklearn

import limo

# scikit-learn checks the input of estimators with sentences of its own, which users know.
_OWNERS = tuple(str(Path(package.__file__).parent) for package in (limo, sklearn))
# Where scikit-learn lets NumPy say that X holds no numbers: every estimator there is does so.
_CHECKS_OF_X = str(Path("sklearn", "utils", "validation.py"))
_SENTENCES = (ValueError, TypeError, OSError, RuntimeError, LookupError, NotImplementedError)


def is_sentence(error: BaseException) -> bool:
    """Whether limo (or scikit-learn) raised the error on purpose, with a text.

    ``None[0]`` and ``raise TypeError("...")`` give the same type. They differ in the last
    instruction that ran: only the second one is a raise.
    """
    if not isinstance(error, _SENTENCES) or not str(error).strip():
        return False
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        if last.tb_frame.f_code.co_filename.endswith(_CHECKS_OF_X):
            return True
        last = last.tb_next
    return last is None or (_owned(last) and _is_raise(last)) or _is_missing_file(error)


def _owned(frame: TracebackType) -> bool:
    return frame.tb_frame.f_code.co_filename.startswith(_OWNERS)


def _is_raise(frame: TracebackType) -> bool:
    instructions = dis.get_instructions(frame.tb_frame.f_code)
    names = {one.offset: one.opname for one in instructions}
    return names.get(frame.tb_lasti) in ("RAISE_VARARGS", "RERAISE")


def _is_missing_file(error: BaseException) -> bool:
    """The system's own errors about a file name the file, which says everything."""
    return isinstance(error, OSError) and error.filename is not None
