"""Coverage-guided fuzzing of one reader: python tests/datasets/fuzz/run.py arff -max_total_time=60.

Needs atheris (``pip install atheris``). The compiler is switched off so that the fuzzer sees the
branches of the kernels. Seeds lie in ``corpus/<target>``; name a folder of your own before it, and
new finds go there.
"""

import os
import sys
from pathlib import Path


def main(name: str, arguments: list[str]) -> None:
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    sys.path.insert(0, str(Path(__file__).parents[2]))
    import atheris

    with atheris.instrument_imports(include=["limo"]):
        from naive import datasets_fuzz
    atheris.Setup([sys.argv[0], *arguments], datasets_fuzz.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
