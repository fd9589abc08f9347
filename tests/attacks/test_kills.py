"""Six kills; a hundred are a command: python tests/attacks/kills.py."""

import pytest

from attacks import kills


@pytest.mark.slow
def test_kills_leave_no_process_and_the_same_table(tmp_path):
    assert kills.campaign(6, 1, tmp_path, report=lambda _: None) == []
