from limo.reproduce._benchmark_plans import DATASETS
from limo.reproduce._benchmark_tables import printed_ranks
from limo.reproduce._pictures import plot_average_ranks


def test_every_rank_is_drawn_in_every_panel():
    table = printed_ranks(DATASETS)
    upper, lower = plot_average_ranks({"one": table, "two": table}).axes
    for ax in (upper, lower):
        drawn = {line.get_label(): line.get_ydata().tolist() for line in ax.lines[:6]}
        assert drawn == {method: table[method].tolist() for method in table}
        assert ax.yaxis_inverted()
    assert lower.get_xticklabels()[0].get_text() == "Hamming\nloss"
    assert upper.get_title(loc="left") == "one"
