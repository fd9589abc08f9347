import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from cases import cases

# instance 1 has no label, label "c" is never true
Y = pd.DataFrame([[1, 0, 0], [0, 0, 0], [1, 1, 0]], columns=["a", "b", "<c>"])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.5, 0.5, 0.5]])
P = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]])


@pytest.fixture
def evaluation():
    return limo.evaluate(Y, S, P)


@pytest.mark.parametrize("conventions", list(limo.CONVENTIONS))
def test_all_at_once_equals_one_by_one(conventions):
    for labels, scores, predictions in cases(50, seed=50):
        evaluation = limo.evaluate(labels, scores, predictions, conventions=conventions)
        assert list(evaluation) == list(limo.MEASURES)
        for name, measure in limo.MEASURES.items():
            judged = scores if measure.needs == "scores" else predictions
            if not math.isnan(evaluation[name]):
                assert evaluation[name] == getattr(limo, name)(
                    labels, judged, conventions=conventions
                )


def test_it_is_a_mapping(evaluation):
    assert len(evaluation) == 11
    assert dict(evaluation)["hamming_loss"] == evaluation["hamming_loss"] == pytest.approx(2 / 9)
    assert "macro_auc" in evaluation
    with pytest.raises(KeyError, match="Unknown measure 'makro_auc'. Did you mean 'macro_auc'"):
        evaluation["makro_auc"]


def test_only_what_the_input_allows():
    assert set(limo.evaluate(Y, S)) == {n for n, m in limo.MEASURES.items() if m.needs == "scores"}
    labels_only = limo.evaluate(Y, y_pred=P)
    assert set(labels_only) == {n for n, m in limo.MEASURES.items() if m.needs == "labels"}
    with pytest.raises(KeyError, match="macro_auc needs y_score, which was not given"):
        labels_only["macro_auc"]
    with pytest.raises(ValueError, match="Effectiveness needs y_score"):
        _ = labels_only.effectiveness
    with pytest.raises(ValueError, match="evaluate needs y_score, y_pred or both: got neither"):
        limo.evaluate(Y)


def test_skipped_rows_are_counted_with_their_reason(evaluation):
    assert evaluation.skipped["ranking_loss"] == 1
    assert evaluation.undefined["ranking_loss"] == {"no relevant label": 1}
    assert evaluation.undefined["macro_auc"] == {"no positive instance": 1}
    assert evaluation.skipped["hamming_loss"] == 0
    full = limo.evaluate([[1, 1], [1, 0]], [[0.1, 0.2], [0.2, 0.1]])
    assert full.undefined["instance_auc"] == {"every label relevant": 1}
    assert full.undefined["macro_auc"] == {"every instance positive": 1}
    assert full.undefined["coverage"] == {}


def test_filled_rows_are_not_skipped():
    found = limo.evaluate(Y, S, conventions="sklearn")
    assert found.skipped["ranking_loss"] == 0
    assert found.undefined["ranking_loss"] == {"no relevant label": 1}
    assert found.per_instance["ranking_loss"].tolist() == [0, 0, 1]
    assert "1 instance: no relevant label (counted as 0)" in str(found)


def test_values_behind_the_means(evaluation):
    assert evaluation.per_instance["ranking_loss"][[0, 2]].tolist() == [0, 1]
    assert np.isnan(evaluation.per_instance["ranking_loss"][1])
    np.testing.assert_allclose(evaluation.per_label["macro_f1"], [1, 0, 0])
    np.testing.assert_allclose(evaluation.per_label["hamming_loss"], [0, 1 / 3, 1 / 3])
    np.testing.assert_allclose(evaluation.per_instance["hamming_loss"], [1 / 3, 0, 1 / 3])
    np.testing.assert_allclose(evaluation.per_instance["label_wise_margin"], [0.5, np.nan, 0])
    assert set(evaluation.per_label) == {
        "macro_auc",
        "macro_f1",
        "hamming_loss",
        "instance_wise_margin",
    }


def test_best_possible_values(evaluation):
    assert evaluation.results["coverage"].best == 0.5  # (1 + 2) / 2 labels, less 1
    assert evaluation.results["macro_f1"].best == pytest.approx(2 / 3)  # label <c> cannot be found
    assert evaluation.results["ranking_loss"].best == 0
    assert evaluation.results["macro_auc"].best == 1


def test_share_of_tied_pairs(evaluation):
    # rows: 2 + 2 pairs, 2 tied; columns: a 2 pairs, b 2 pairs, none tied; entries: 3 * 6, of which
    # each relevant 0.5 meets the irrelevant 0.5s at (1, a) and (2, <c>)
    assert evaluation.tied_share == {"rows": 0.5, "columns": 0.25, "entries": pytest.approx(4 / 18)}


def test_margins_and_effectiveness(evaluation):
    rows = evaluation.margins["rows"]
    assert rows.positive_share == 0.5
    assert rows.quantile(0) == 0
    assert rows.pairs == 4
    assert evaluation.margins["entries"].margins[0] == pytest.approx(-0.3)
    assert evaluation.effectiveness == limo.effectiveness(Y, S)


def test_frames(evaluation):
    frame = evaluation.to_frame()
    assert frame.loc["macro_auc", "value"] == evaluation["macro_auc"]
    assert frame.loc["macro_auc", "skipped"] == 1
    labels = evaluation.to_frame("labels")
    assert labels.index.tolist() == ["a", "b", "<c>"]
    assert labels.loc["a", "macro_f1"] == 1
    assert evaluation.to_frame("instances").shape == (3, 8)
    with pytest.raises(ValueError, match="Unknown table 'label'. Did you mean 'labels'"):
        evaluation.to_frame("label")
    assert limo.evaluate(Y.to_numpy(), S).to_frame("labels").index.tolist() == [0, 1, 2]


def test_json(evaluation, tmp_path):
    text = evaluation.to_json(tmp_path / "found.json", per_instance=True)
    assert (tmp_path / "found.json").read_text() == text + "\n"
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["measures"]["ranking_loss"]["value"] == evaluation["ranking_loss"]
    assert found["measures"]["ranking_loss"]["undefined"] == {"no relevant label": 1}
    assert found["label_names"] == ["a", "b", "<c>"]
    assert found["per_label"]["macro_auc"][2] is None
    assert found["per_instance"]["ranking_loss"][0] == 0
    assert found["margins"]["rows"]["positive_share"] == 0.5
    assert found["conventions"]["name"] == "standard"
    assert "per_instance" not in json.loads(evaluation.to_json())


def test_json_under_conventions_that_hold_nan():
    found = json.loads(limo.evaluate(Y, S, conventions="sklearn").to_json())
    assert found["measures"]["macro_auc"]["value"] is None
    assert found["conventions"]["undefined"]["coverage"] == -1


def test_table(evaluation):
    lines = str(evaluation).splitlines()
    assert lines[0] == "3 instances x 3 labels, conventions: standard"
    assert lines[2].split() == ["measure", "value", "best", "better", "undefined", "rows"]
    assert lines[4].split() == [
        "ranking",
        "loss",
        "0.5000",
        "0.0000",
        "low",
        "1",
        "instance:",
        "no",
        "relevant",
        "label",
    ]
    assert [line.split()[0] for line in lines[-3:]] == ["label-wise", "instance-wise", "entry-wise"]
    assert repr(evaluation) == str(evaluation)
    assert "margin" not in str(limo.evaluate(Y, y_pred=P))


def test_html(evaluation):
    html = evaluation._repr_html_()
    assert html.count("<table>") == 2
    assert html.count("<tr>") == 12 + 4


def test_nothing_to_judge():
    found = limo.evaluate(np.zeros((2, 2)), [[0.1, 0.2], [0.3, 0.4]], np.zeros((2, 2)))
    assert math.isnan(found["micro_auc"])
    assert math.isnan(found.tied_share["rows"])
    assert found["micro_f1"] == 0
    assert math.isnan(found.margins["rows"].quantile(0.5))
    assert "1 matrix: no relevant entry" in str(found)


def test_one_instance_and_one_label():
    assert limo.evaluate([[1, 0]], [[0.2, 0.1]])["ranking_loss"] == 0
    assert limo.evaluate([[1], [0]], [[0.2], [0.1]])["macro_auc"] == 1
    assert limo.evaluate([[1]], [[0.5]], [[1]])["hamming_loss"] == 0


def test_sparse_labels_give_the_same():
    rng = np.random.default_rng(51)
    labels, predictions = (rng.random((2, 200, 30)) < 0.05).astype(int)
    scores = rng.normal(size=labels.shape).astype(np.float32)
    dense = limo.evaluate(labels, scores, predictions)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        found = limo.evaluate(kind(labels), scores, kind(predictions))
        assert dict(found) == dict(dense)


@pytest.mark.slow
def test_large_sparse_labels_are_never_densified(tmp_path):
    """100 000 x 2 000 labels at 0.2 %: memory beyond the scores stays far below one dense matrix."""
    import subprocess
    import sys

    code = """
import resource, sys
import numpy as np
from scipy import sparse
import limo
m, l = 100_000, 2_000
rng = np.random.default_rng(0)
Y = sparse.random_array((m, l), density=0.002, format="csr", rng=rng, data_sampler=lambda size: np.ones(size))
S = np.memmap(sys.argv[1], dtype=np.float32, mode="w+", shape=(m, l))
for start in range(0, m, 10_000):
    S[start:start + 10_000] = rng.standard_normal((10_000, l), dtype=np.float32)
limo.evaluate(Y[:100], S[:100], Y[:100])
def anonymous():
    return int(next(x for x in open("/proc/self/status") if x.startswith("RssAnon")).split()[1]) / 1024
before, peak = anonymous(), 0.0
import threading, time
stop = threading.Event()
def watch():
    global peak
    while not stop.is_set():
        peak = max(peak, anonymous()); time.sleep(0.01)
watcher = threading.Thread(target=watch); watcher.start()
found = limo.evaluate(Y, S, Y)
stop.set(); watcher.join()
assert abs(found["micro_auc"] - 0.5) < 0.01 and found["hamming_loss"] == 0
print(peak - before)
"""
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "scores")],
        capture_output=True,
        text=True,
        check=True,
    )
    dense_as_bytes = 100_000 * 2_000 / 2**20
    assert float(run.stdout) < dense_as_bytes
