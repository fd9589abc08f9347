"""Records of blocks against their definition, label by label and entry by entry."""

import numpy as np
import pytest

import limo
from cases import cases
from limo._blocks import Task, count, finish, gather, merge_counted, rank
from limo._checks import check_inputs
from limo.measures._own import select

TASK = Task(tuple(select()), limo.CONVENTIONS["standard"])


def test_counts_are_those_of_the_definition():
    for Y, S, P in cases(40, seed=21):
        half = len(Y) // 2
        blocks = [
            check_inputs(Y[i], S[i], P[i]) for i in np.split(np.arange(len(Y)), [half]) if i.size
        ]
        reference = rank([gather(block) for block in blocks])
        counted = merge_counted([count(block, reference, TASK) for block in blocks])
        assert reference.by_score.tolist() == sorted(S[Y == 1], reverse=True)
        others = S[Y == 0]
        above, ahead = np.cumsum(counted.by_score, axis=1)  # they are steps
        assert above.tolist() == [(others > s).sum() for s in reference.by_score]
        assert ahead.tolist() == [(others >= s).sum() for s in reference.by_score]
        for j, (start, stop) in enumerate(
            zip(reference.indptr, reference.indptr[1:], strict=False)
        ):
            own, others = reference.by_label[start:stop], S[Y[:, j] == 0, j]
            assert own.tolist() == sorted(S[Y[:, j] == 1, j], reverse=True)
            above, ahead = np.cumsum(counted.by_label[:, start:stop], axis=1)
            assert above.tolist() == [(others > s).sum() for s in own]
            assert ahead.tolist() == [(others >= s).sum() for s in own]
            assert counted.top[j] == max(others, default=-np.inf)
            assert counted.both[j] == (Y[:, j] & P[:, j]).sum()
            assert counted.predicted[j] == P[:, j].sum()
        assert finish(reference, counted, TASK).to_json() == limo.evaluate(Y, S, P).to_json()


def test_counts_of_other_blocks_are_rejected():
    first, second = (check_inputs([[1, 0]], [[s, 0.5]]) for s in (0.1, 0.9))
    references = [rank([gather(block)]) for block in (first, second)]
    parts = [count(first, reference, TASK) for reference in references]
    with pytest.raises(ValueError, match="not made with the same relevant scores"):
        merge_counted(parts)
    with pytest.raises(ValueError, match="belong to other relevant scores"):
        finish(references[0], parts[1], TASK)
