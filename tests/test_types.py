from collections.abc import Iterable

import numpy as np
import pytest

from limo._types import check_kind


def test_what_is_of_another_type_is_shown_shortened():
    check_kind("a", str, "title must be a text")
    check_kind(None, str | None, "title must be a text")
    with pytest.raises(ValueError, match=r"^title must be a text, got 3\.$"):
        check_kind(3, str, "title must be a text")
    with pytest.raises(ValueError, match=r"got array\(.*\.\.\.") as caught:
        check_kind(np.zeros(10_000), str, "title must be a text")
    assert len(str(caught.value)) < 120
    with pytest.raises(ValueError, match=r"a list, got 1\.0"):
        check_kind(np.array(1.0), Iterable, "verdict must be a list")
