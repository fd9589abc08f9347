import limo
from limo.reproduce._pages import printed_benchmark, printed_synthetic, synthetic_spread


def test_all_cells_are_there_once():
    benchmark, synthetic, spread = printed_benchmark(), printed_synthetic(), synthetic_spread()
    assert len(benchmark) == 5 * 6 * 11
    assert len(synthetic) == 3 * 7 + 6 * 4
    assert len(spread) == 3 * 7
    for table, keys in (
        (benchmark, ["dataset", "method", "measure"]),
        (synthetic, ["method", "measure"]),
    ):
        assert set(table["measure"]) == set(limo.MEASURES)
        assert not table.duplicated(keys).any()


def test_some_cells_typed_from_the_paper():
    table = printed_benchmark().set_index(["dataset", "method", "measure"])
    assert table.loc[("CAL500", "LIMO", "ranking_loss")].tolist() == [0.178, 0.004, 1]
    assert table.loc[("bibtex", "GFM", "micro_auc")].tolist() == [0.626, 0.003, 6]
    synthetic = printed_synthetic().set_index(["method", "measure"])
    assert synthetic.loc[("LIMO-t(x)", "instance_f1")].tolist() == [0.9, 0.96]


def test_the_ranks_printed_are_those_of_the_papers_own_example():
    """Its text: LIMO on ranking loss ranks (1 + 1 + 1 + 2 + 2) / 5 = 1.4."""
    table = printed_benchmark()
    own = table[table["method"].eq("LIMO") & table["measure"].eq("ranking_loss")]
    assert own["rank"].mean() == 1.4
