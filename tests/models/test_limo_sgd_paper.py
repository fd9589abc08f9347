import warnings

import numpy as np
import pytest

import limo
from solvers.problems import arrays

X, Y = arrays(seed=3, m=40, d=5, l=4)


@pytest.mark.parametrize("kind", ["LIMO", "LIMO-label", "LIMO-inst"])
@pytest.mark.parametrize("dataset", ["benchmark", "synthetic"])
def test_the_papers_settings(kind, dataset):
    model = limo.paper_limo(kind, dataset, random_state=0)
    weight = 100.0 if dataset == "synthetic" else 1.0
    assert model.label_weight == (0 if kind == "LIMO-inst" else weight)
    assert model.instance_weight == (0 if kind == "LIMO-label" else weight)
    assert model.fit_intercept == (dataset == "synthetic")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X, Y).decision_function(X).shape == Y.shape
    with pytest.raises(ValueError, match="Unknown kind of LIMO 'limo'"):
        limo.paper_limo("limo")


@pytest.mark.slow
def test_the_synthetic_table_of_the_paper():
    """Ranking measures of LIMO on the triangles, within 0.01 (coverage 0.05) of the printed ones."""
    printed = {
        "LIMO-inst": {"ranking_loss": 0.027, "macro_auc": 0.842, "micro_auc": 0.861},
        "LIMO-label": {"ranking_loss": 0.015, "macro_auc": 0.828, "micro_auc": 0.854},
        "LIMO": {"ranking_loss": 0.015, "macro_auc": 0.842, "micro_auc": 0.903},
    }
    for kind, values in printed.items():
        found = []
        for seed in range(10):
            data = limo.datasets.figure1(2000, seed=seed)
            model = limo.paper_limo(kind, "synthetic", random_state=seed)
            model.fit(data.X[:1000], data.Y[:1000])
            found.append(limo.evaluate(data.Y[1000:], model.decision_function(data.X[1000:])))
        for name, value in values.items():
            assert np.mean([f[name] for f in found]) == pytest.approx(value, abs=0.012), (
                kind,
                name,
            )
