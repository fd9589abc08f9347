"""Coverage-guided fuzzing of one reader: python tests/datasets/fuzz/run.py arff -max_total_time=60.

Needs atheris (``pip install atheris``). The compiler is switched off so that the fuzzer
sees the branches of the kernels; new finds go to ``corpus/<target>`` if that folder is named last.
"""

import os
import sys
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import atheris  # noqa: E402

with atheris.instrument_imports(include=["limo"]):
    import targets

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    atheris.Setup([sys.argv[0], *arguments], targets.TARGETS[name])
    atheris.Fuzz()
