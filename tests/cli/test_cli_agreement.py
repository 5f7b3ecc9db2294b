"""Commands that solve the same problem say the same of it: prices, weights of samples and scaling mean one thing."""

import json

import numpy as np
import pytest

from mklcvx import Instance, save_instance

STEPS = ("-f", "l2", "--centre", "--normalise", "trace")
COUNTS = np.where(np.arange(24) < 8, 3, 1)


def stack():
    features = np.random.default_rng(0).normal(size=(24, 3)) * np.where(COUNTS > 1, 3.0, 1.0)[:, None]
    y = np.where(features[:, 0] + np.random.default_rng(1).normal(size=24) > 0, 1, -1)
    return np.stack([np.outer(column, column) for column in features.T]), y


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same samples, once with weights and once repeated; and kernels far from 1 in size."""
    place, (kernels, y), many = tmp_path_factory.mktemp("same"), stack(), np.repeat(np.arange(24), COUNTS)
    save_instance(place / "weighted.npz", Instance(kernels, y, sample_weight=COUNTS))
    save_instance(place / "repeated.npz", Instance(kernels[:, many][:, :, many], y[many]))
    save_instance(place / "small.npz", Instance(0.01 * kernels, y))
    return place


@pytest.fixture
def said(succeeds):
    def words(*arguments):
        out, _ = succeeds(*arguments, "--json")
        return json.loads(out.splitlines()[-1])

    return words


def test_a_sample_of_weight_three_counts_three_times_in_centring_and_scaling(said, files):
    weighted, repeated = (said("solve", files / f"{name}.npz", *STEPS) for name in ("weighted", "repeated"))
    assert weighted["objective"] == pytest.approx(repeated["objective"], rel=1e-8)
    assert weighted["weights"] == pytest.approx(repeated["weights"], rel=1e-6)


def test_folds_count_weights_as_the_kernels_command_does(said, files):
    request = files / "weighted.npz", *STEPS, "--folds", "3"
    found = said("cv", *request, "--grid", "C=1")
    again = said("kernels", *request, "--answers", "alone")
    assert again["scores"] == pytest.approx(found["scores"])


def test_the_price_that_nobody_names_is_one_for_every_command(said, files):
    found = said("solve", files / "small.npz", "-f", "l2")
    again = said("kernels", files / "small.npz", "-f", "l2", "--folds", "2", "--answers", "alone")
    assert again["certificate"]["upper"] == pytest.approx(found["certificate"]["upper"], rel=1e-9)


def test_nu_asks_for_weights_of_mean_one(refusal, files):
    said = refusal("kernels", files / "weighted.npz", "-f", "l2", "--set", "nu=0.2", "--folds", "2")
    assert "the sample weights are 1.66667 on average: divide them by that" in said


def test_an_answer_is_judged_for_the_kernels_it_was_found_for(run, files):
    problem, answer = files / "weighted.npz", files / "answer.json"
    assert run("solve", problem, *STEPS, "-q", "-o", answer)[0] == 0
    assert run("verify", problem, answer, "--no-diagnosis")[0] == 0
