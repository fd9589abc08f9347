from limo.reproduce._pages import printed_synthetic
from limo.reproduce._synthetic import classification_plan, ranking_plan


def test_the_plans_cover_both_printed_tables_exactly():
    wanted = set(map(tuple, printed_synthetic()[["measure", "method"]].to_numpy()))
    planned = set()
    for plan in (ranking_plan(1, 1), classification_plan(1, 1)):
        planned |= {(measure, method.name) for measure in plan.measures for method in plan.methods}
    assert planned == wanted


def test_an_experiment_is_a_sample_split_in_half_again_and_again():
    plan = ranking_plan(3, 4)
    assert len(plan.jobs()) == 3 * 4 * 3
    data = plan.datasets[1].load()
    assert data.X.shape == (2000, 2)
    train, test = plan.jobs()[0].split.instances(data)
    assert len(train) == len(test) == 1000
    assert (data.X != plan.datasets[2].load().X).any()


def test_instances_with_every_label_are_passed_over_as_in_print():
    assert not ranking_plan(1, 1).conventions.full_rows_in_average_precision


def test_the_cuts_behind_the_printed_columns():
    plan = classification_plan(1, 1)
    per_label, per_instance = (m.cuts(plan.measures) for m in plan.methods[:2])
    assert str(per_label["micro_f1"]).startswith("GlobalThreshold(target='micro_f1')")
    assert str(per_label["macro_f1"]).startswith("LabelThreshold(")
    assert all("hamming_loss" in str(cut) for cut in per_instance.values())
    assert all("fitted on training scores" in str(cut) for cut in per_label.values())
