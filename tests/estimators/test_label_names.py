"""Names of labels and of responses: those of a DataFrame's columns reach warnings, solutions, files and tables."""

import numpy as np
import pandas as pd
import pytest

from mklcvx import MKLRegressor, MultiLabelMKL, TwoStageMKL, load_model

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(24, 3)), columns=["a", "b", "c"])
LABELS = pd.DataFrame({"red": X["a"] > 0, "round": X["b"] + X["c"] > 0}).astype(int)
BANK = ["linear", "gaussian"]


@pytest.fixture(scope="module")
def model():
    return MultiLabelMKL("ml_sum", BANK).fit(X, LABELS)


def table_of(succeeds, model, folder):
    model.save(folder / "model.npz")
    X.to_csv(folder / "new.csv", index=False)
    out, _ = succeeds("predict", folder / "model.npz", folder / "new.csv")
    return out.splitlines()[0].split(",")


def test_labels_keep_the_names_of_their_columns(succeeds, model, tmp_path):
    assert model.label_names_.tolist() == ["red", "round"]
    assert model.solutions_[0].label_names == ("red", "round")
    assert table_of(succeeds, model, tmp_path) == ["decision red", "decision round", "red", "round"]
    again = load_model(tmp_path / "model.npz")
    assert again.label_names_.tolist() == ["red", "round"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_labels_without_names_are_counted(succeeds, model, tmp_path):
    plain = MultiLabelMKL("ml_sum", BANK).fit(X, LABELS.to_numpy())
    assert not hasattr(plain, "label_names_")
    assert table_of(succeeds, plain, tmp_path) == ["decision 0", "decision 1", "0", "1"]
    np.testing.assert_array_equal(plain.weights_, model.weights_)
    assert not hasattr(MultiLabelMKL("ml_sum", BANK).fit(X, LABELS).fit(X, LABELS["red"]), "label_names_")


def test_a_label_that_is_left_out_is_named():
    with pytest.warns(UserWarning, match="labels all are the same for all training samples: left out"):
        found = TwoStageMKL("alignment", BANK).fit(X, LABELS.assign(all=1))
    assert found.label_names_.tolist() == ["red", "round", "all"]
    assert found.solutions_[0].label_names == ("red", "round")


def test_responses_keep_the_names_of_their_columns(succeeds, tmp_path):
    response = pd.DataFrame({"weight": X["a"] ** 2, "length": X["b"]})
    model = MKLRegressor("l2", BANK).fit(X, response)
    assert table_of(succeeds, model, tmp_path) == ["decision weight", "decision length"]


def test_the_truth_is_matched_by_its_names_and_is_no_feature(succeeds, model, tmp_path):
    """In whatever order --var lists the columns, whether the model knows the names of its features or not."""
    pd.concat([X, LABELS], axis=1).to_csv(tmp_path / "rows.csv", index=False)
    plain = MultiLabelMKL("ml_sum", BANK).fit(X.to_numpy(), LABELS)
    said = []
    for one in (model, plain):
        one.save(tmp_path / "model.npz")
        for order in ("red,round", "round,red"):
            _, err = succeeds("predict", tmp_path / "model.npz", tmp_path / "rows.csv", "--var", f"labels={order}")
            said.append(err)
    assert len({*said}) == 1
    assert "macro F1" in said[0]
