"""Bad values for the arguments of public names; all of them are a command (see matrix.py)."""

import pytest

from attacks import matrix

# Names without a foreign error for any bad value of any argument. New names belong here.
CLEAN = (
    "limo.Conventions",
    "limo.Dataset",
    "limo.FixedThreshold",
    "limo.GFMClassifier",
    "limo.average_precision",
    "limo.compare_predictions",
    "limo.coverage",
    "limo.datasets.figure1",
    "limo.datasets.files_written",
    "limo.datasets.is_at_hand",
    "limo.datasets.make_multilabel",
    "limo.datasets.split",
    "limo.datasets.stored_splits",
    "limo.datasets.write_predictions",
    "limo.describe",
    "limo.effectiveness",
    "limo.entry_wise_margin",
    "limo.experiment.Data",
    "limo.experiment.Method",
    "limo.experiment.Plan",
    "limo.experiment.Procedure",
    "limo.experiment.Splits",
    "limo.experiment.diagram_layout",
    "limo.experiment.friedman",
    "limo.experiment.groups",
    "limo.experiment.rank",
    "limo.experiment.summarise",
    "limo.experiment.wilcoxon_holm",
    "limo.explain",
    "limo.hamming_loss",
    "limo.instance_auc",
    "limo.instance_f1",
    "limo.instance_wise_margin",
    "limo.label_wise_margin",
    "limo.load_model",
    "limo.losses.Term",
    "limo.losses.bounds",
    "limo.macro_auc",
    "limo.macro_f1",
    "limo.measures.Measure",
    "limo.measures.make_measure",
    "limo.measures.select",
    "limo.measures.unregister",
    "limo.micro_auc",
    "limo.micro_f1",
    "limo.one_error",
    "limo.read",
    "limo.ranking_loss",
    "limo.report.collect_provenance",
    "limo.report.document_from_parts",
    "limo.thresholds.gfm_labels",
    "limo.thresholds.rule_to_json",
)


@pytest.mark.parametrize("name", CLEAN)
def test_nonsense_is_refused_in_sentences(name):
    exact = [
        one
        for one in matrix.attempts(name)
        if one.name.removesuffix(".fit").removesuffix(".predict") == name
    ]
    assert exact
    assert [problem for one in exact if (problem := matrix.problem_of(one))] == []


def test_new_names_enrol_by_themselves():
    assert {"limo.evaluate", "limo.datasets.split", "limo.experiment.Plan"} <= set(matrix.public())
