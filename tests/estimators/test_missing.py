"""Samples that lack a view, and columns that are not numbers: estimators name them, and say what can be done."""

import numpy as np
import pandas as pd
import pytest

from mklcvx import InputError, MKLClassifier, MKLRegressor, fill_missing

RANDOM = np.random.default_rng(0)
Y = np.arange(20) % 2
TABLE = pd.DataFrame(RANDOM.normal(size=(20, 4)) + Y[:, None], columns=["age", "height", "gene a", "gene b"])
STACK = np.stack([TABLE.to_numpy()[:, part] @ TABLE.to_numpy()[:, part].T for part in ([0, 1], [2, 3])], axis=-1)
MISSING = "has NaN in the rows and columns of 3 of 20 samples, which lack this view: leave these samples out"
IMPUTED = "put an imputer of scikit-learn before the model"


@pytest.fixture
def gappy():
    stack = STACK.copy()
    stack[:3, :, 1] = stack[:, :3, 1] = np.nan
    return stack


@pytest.fixture
def gaps():
    table = TABLE.copy()
    table.loc[:2, "gene a":] = np.nan
    return table


@pytest.mark.parametrize("model", [MKLClassifier("l1", "precomputed"), MKLRegressor("l2", "precomputed")])
def test_a_kernel_with_missing_samples_is_named(model, gappy):
    with pytest.raises(InputError, match=rf"X: kernel 'K2' \(index 1\) {MISSING}.*mklcvx.fill_missing centres"):
        model.fit(gappy, Y)


def test_a_kernel_is_called_by_its_name(gappy):
    with pytest.raises(InputError, match=rf"X: kernel 'genes' \(index 1\) {MISSING}"):
        MKLClassifier("l1", "precomputed", kernel_names=["body", "genes"]).fit(gappy, Y)
    with pytest.raises(InputError, match=rf"X: kernel 'genes' \(index 1\) {MISSING}"):
        MKLClassifier("l1", "precomputed").fit({"body": gappy[..., 0], "genes": gappy[..., 1]}, Y)


def test_the_way_out_is_taken(gappy):
    model = MKLClassifier("l1", "precomputed").fit(fill_missing(gappy), Y)
    assert model.certificate_.relative_gap < 1e-8


def test_columns_with_nan_are_named(gaps):
    words = rf"in 3 of 20 samples: leave these samples out, or {IMPUTED}"
    with pytest.raises(InputError, match=f"X has NaN in columns 'gene a', 'gene b', {words}"):
        MKLClassifier().fit(gaps, Y)
    with pytest.raises(InputError, match=f"X has NaN in columns 2, 3, {words}"):
        MKLClassifier().fit(gaps.to_numpy(), Y)
    with pytest.raises(InputError, match=f"X has NaN in column 'gene b', {words}"):
        MKLClassifier().fit(TABLE, Y).predict(TABLE.assign(**{"gene b": gaps["gene b"]}))


def test_a_view_with_nan_is_named(gaps):
    views = {"body": TABLE[["age", "height"]], "genes": gaps[["gene a", "gene b"]]}
    with pytest.raises(InputError, match="X: view genes has NaN in columns 'gene a', 'gene b', in 3 of 20 samples"):
        MKLClassifier().fit(views, Y)
    with pytest.raises(InputError, match="X: view 2 has NaN in columns 0, 1, in 3 of 20 samples"):
        MKLClassifier().fit([view.to_numpy() for view in views.values()], Y)


def test_a_column_of_words_is_named():
    with pytest.raises(InputError, match="X has 'old' in column 'age', no number: encode them as numbers"):
        MKLClassifier().fit(TABLE.assign(age=["old", "young"] * 10), Y)
    numbers = TABLE.assign(age=TABLE["age"].astype(str))
    np.testing.assert_allclose(MKLClassifier().fit(numbers, Y).weights_, MKLClassifier().fit(TABLE, Y).weights_)


def test_other_faults_keep_the_words_of_scikit_learn():
    with pytest.raises(ValueError, match="Input X contains infinity"):
        MKLClassifier().fit(TABLE.assign(age=np.inf), Y)
    stack = STACK.copy()
    stack[3, 4, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MKLClassifier(kernels="precomputed").fit(stack, Y)
