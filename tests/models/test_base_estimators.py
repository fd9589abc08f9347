"""Estimators are found by name, link to their pages, and name the features they make."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

import limo
from limo._system import SITE
from limo.models import KernelFeatures, UnitRows, all_estimators

ROOT = Path(__file__).parents[2]
EVERY = all_estimators()


def test_every_public_estimator_is_listed_once():
    packages = (limo, limo.models, limo.thresholds)
    public = {name for package in packages for name in package.__all__}
    found = {name for name in public if hasattr(getattr(limo, name, None), "get_params")}
    names = [name for name, _ in EVERY]
    assert names == sorted(set(names))
    assert found <= set(names) <= public
    kinds = [{n for n, _ in all_estimators(kind)} for kind in ("classifier", "threshold")]
    assert "ThresholdClassifier" in kinds[0]
    assert kinds[1] >= {"TopK", "AutoThreshold", "LabelThreshold"}
    with pytest.raises(ValueError, match="Unknown kind 'regressor'"):
        all_estimators("regressor")


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_the_html_of_an_estimator_links_to_its_page(name, kind):
    link = kind._doc_link_template.format(estimator_module=kind.__module__, estimator_name=name)
    assert link == f"{SITE}/generated/reference/{kind.__module__}.{name}.html"
    assert getattr(__import__(kind.__module__, fromlist=[name]), name) is kind
    assert kind.__new__(kind)._get_doc_link() == link


def test_a_diagram_shows_the_link():
    html = make_pipeline(UnitRows(), limo.LIMOClassifier())._repr_html_()
    for name in ("limo.models.UnitRows", "limo.LIMOClassifier"):
        assert f"{SITE}/generated/reference/{name}.html" in html


def test_the_address_is_the_one_of_the_metadata():
    declared = re.search(r'^Documentation = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert SITE.startswith(declared.group(1))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_transformers_return_data_frames_on_request(library):
    X = pd.DataFrame(np.random.default_rng(0).random((12, 3)), columns=["a", "b", "c"])
    scaled = UnitRows().set_output(transform=library).fit_transform(X)
    assert list(scaled.columns) == ["a", "b", "c"]
    np.testing.assert_allclose(scaled.to_numpy(), UnitRows().fit_transform(X))
    kernel = KernelFeatures().set_output(transform=library).fit(X)
    made = kernel.transform(X)
    assert list(made.columns) == [f"kernelfeatures{k}" for k in range(kernel.n_components_)]


def test_scaling_remembers_its_features():
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match="3 features"):
        UnitRows().fit(X).transform(X[:, :2])
    assert sparse.issparse(UnitRows().fit_transform(sparse.csr_array(X)))
