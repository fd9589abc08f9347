import pytest

from limo.reproduce._pages import printed_synthetic
from limo.reproduce._pictures import plot_relative
from limo.reproduce._synthetic import beside_printed, experiment_means
from reproduce.fabricated import synthetic_rows


def test_both_panels_show_every_method_where_its_value_is():
    table = beside_printed(experiment_means(synthetic_rows()), printed_synthetic().iloc[:21])
    left, right = plot_relative(table).axes
    assert [ax.get_title() for ax in (left, right)] == ["ours", "printed"]
    for ax, column in ((left, "relative"), (right, "printed_relative")):
        drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
        for method in ("LIMO", "LIMO-inst", "LIMO-label"):
            own = table[table["method"] == method]
            assert drawn[method].tolist() == pytest.approx(own[column].tolist())
    # the worst value of each measure stands on the right: ranking loss .027
    assert right.texts[0].get_text() == "0.027"
    assert left.xaxis_inverted()
