"""Bad values for the arguments of public names; all of them are a command (see matrix.py)."""

import pytest

from attacks import matrix

# Names without a foreign error for any bad value of any argument. New names belong here.
CLEAN = (
    "limo.AutoThreshold",
    "limo.average_precision",
    "limo.compare_predictions",
    "limo.Conventions",
    "limo.coverage",
    "limo.Dataset",
    "limo.datasets.check_suffix",
    "limo.datasets.figure1",
    "limo.datasets.files_written",
    "limo.datasets.is_at_hand",
    "limo.datasets.Limits",
    "limo.datasets.make_multilabel",
    "limo.datasets.order_features",
    "limo.datasets.read_groups",
    "limo.datasets.read_ids",
    "limo.datasets.read_instances",
    "limo.datasets.read_matrix",
    "limo.datasets.read_weights",
    "limo.datasets.Shards",
    "limo.datasets.split",
    "limo.datasets.stored_splits",
    "limo.datasets.StoredSplits",
    "limo.datasets.StratifiedFolds",
    "limo.datasets.StratifiedSplits",
    "limo.datasets.write_predictions",
    "limo.describe",
    "limo.effectiveness",
    "limo.entry_wise_margin",
    "limo.ExpectedF1",
    "limo.experiment.Data",
    "limo.experiment.diagram_layout",
    "limo.experiment.friedman",
    "limo.experiment.groups",
    "limo.experiment.Method",
    "limo.experiment.Plan",
    "limo.experiment.Procedure",
    "limo.experiment.rank",
    "limo.experiment.Splits",
    "limo.experiment.summarise",
    "limo.experiment.wilcoxon_holm",
    "limo.explain",
    "limo.FixedThreshold",
    "limo.GFMClassifier",
    "limo.hamming_loss",
    "limo.instance_auc",
    "limo.instance_f1",
    "limo.instance_wise_margin",
    "limo.label_wise_margin",
    "limo.load_model",
    "limo.losses.bounds",
    "limo.losses.Term",
    "limo.macro_auc",
    "limo.macro_f1",
    "limo.measures.make_measure",
    "limo.measures.Measure",
    "limo.measures.select",
    "limo.measures.unregister",
    "limo.micro_auc",
    "limo.micro_f1",
    "limo.one_error",
    "limo.ranking_loss",
    "limo.read",
    "limo.report.collect_provenance",
    "limo.report.document_from_parts",
    "limo.thresholds.gfm_labels",
    "limo.thresholds.held_out_labels",
    "limo.thresholds.rule_to_json",
)


# Every fourth name is tried by default, all of them with the slow tests.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if k % 4 else ()) for k, name in enumerate(CLEAN)],
)
def test_nonsense_is_refused_in_sentences(name):
    own = [
        one for one in matrix.attempts(name) if one.name == name or one.name.startswith(f"{name}.")
    ]  # its methods, too
    assert own
    assert [problem for one in own if (problem := matrix.problem_of(one))] == []


def test_new_names_enrol_by_themselves():
    assert {"limo.evaluate", "limo.datasets.split", "limo.experiment.Plan"} <= set(matrix.public())
