"""The estimators under scikit-learn's own checks: the whole list for every estimator, with features and with kernels of
one's own; for other problems of an estimator those that depend on what is solved. What cannot hold is named with its
reason."""

import inspect

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from mklcvx import HypergraphEmbedding, MKLClassifier, MKLRegressor, MultiLabelMKL, OneClassMKL, TwoStageMKL

pytestmark = [
    pytest.mark.slow,
    # A check has class weights from 1e-4 to 1e3; a fit that cannot be certified there, or predicts one class, says so.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::mklcvx.OneClassWarning"),
    pytest.mark.filterwarnings("ignore:labels .* are the same for all training samples:UserWarning"),
]

WEIGHTED = "check_sample_weight_equivalence_on_dense_data"
# Everything else that the check compares is compared in test_estimators_losses.py.
COLUMNS = {WEIGHTED: "transform has a column for each training sample, and repeated samples have several"}
ROOT = {
    WEIGHTED: "a certified gap of 1e-9 settles the decision values to its root, 3e-5; the check wants 1e-7, which "
    "others reach by settling which samples support; and transform has a column for each training sample"
}
CALIBRATED = {
    "check_classifiers_train": "a sigmoid may cross one half elsewhere than the decision function crosses zero",
    WEIGHTED: "folds that hold out samples are no folds of repeated samples",
}
NO_STACK = "it gives features to an estimator of precomputed kernels: scikit-learn computes kernels in other checks"
PRECOMPUTED_ONE_CLASS = {**ROOT, "check_outliers_fit_predict": NO_STACK, "check_outliers_train": NO_STACK}
WITHOUT_BIAS = {
    "check_class_weight_classifiers": "it wants all samples in the class of weight 1000; a linear kernel, which the "
    "check computes, without a bias gives x and -x different classes, whatever they weigh"
}
SHARE = {"check_class_weight_classifiers": "class weights of 1000 to 1e-4 leave no share of 1/5 of both: refused"}


def expected(estimator):
    if getattr(estimator, "probability", False):
        return CALIBRATED
    if getattr(estimator, "nu", None) is not None:
        return {**SHARE, **COLUMNS}
    if isinstance(estimator, MultiLabelMKL) and estimator.kernels == "precomputed":
        return {**WITHOUT_BIAS, **COLUMNS}
    if isinstance(estimator, OneClassMKL) and estimator.kernels == "precomputed":
        return PRECOMPUTED_ONE_CLASS
    if isinstance(estimator, OneClassMKL) or estimator.formulation == "ml_minimax":
        return ROOT
    return {} if estimator.embeds else COLUMNS


# Of the rest, how an estimator takes its input and keeps its parameters, another problem changes nothing.
ABOUT_THE_PROBLEM = {
    "check_class_weight_classifiers", "check_classifiers_classes", "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights", "check_classifiers_regression_target", "check_classifiers_train",
    "check_classifiers_multilabel_output_format_decision_function",
    "check_classifiers_multilabel_output_format_predict", "check_classifiers_multilabel_output_format_predict_proba",
    "check_classifiers_multilabel_representation_invariance", "check_decision_proba_consistency",
    "check_dict_unchanged", "check_estimators_dtypes", "check_estimators_overwrite_params", "check_estimators_pickle",
    "check_fit2d_1feature", "check_fit2d_1sample", "check_fit_idempotent", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_non_transformer_estimators_n_iter", "check_regressor_multioutput",
    "check_regressors_int", "check_regressors_train", "check_all_zero_sample_weights_error",
    "check_transformer_general", "check_transformer_n_iter", WEIGHTED,
}  # fmt: skip
NOT_ALWAYS_OFFERED = {"check_all_zero_sample_weights_error"}  # by the oldest scikit-learn that will do
PROBLEMS = [
    MKLClassifier("l2", multi_class="ovo", normalise="variance"),
    MKLClassifier(probability=True, calibration_folds=2),
    MKLClassifier(nu=0.2),
    MKLClassifier(loss="logistic"),
    MKLClassifier("l2", loss="softmax"),
    MKLClassifier(loss="crammer_singer"),
    MKLRegressor("l2", loss="huber", centre=True),
    MultiLabelMKL("ml_minimax"),
]


def about(estimator):
    """Pairs of estimator and check, each check on one kind of array."""
    for case in estimator_checks_generator(estimator, expected_failed_checks=expected(estimator), mark="xfail"):
        _, check = getattr(case, "values", case)
        if check.func.__name__ in ABOUT_THE_PROBLEM and not check.keywords:
            yield case


def named(part):
    return part.func.__name__ if hasattr(part, "func") else "".join(repr(part).split())


def test_the_chosen_checks_exist():
    offered = {check.func.__name__ for one in PROBLEMS for _, check in estimator_checks_generator(one)}
    assert offered >= ABOUT_THE_PROBLEM - NOT_ALWAYS_OFFERED


@parametrize_with_checks(
    [
        MKLClassifier(),
        MKLClassifier(kernels="precomputed", repair="clip"),
        MKLRegressor(),
        MKLRegressor(loss="epsilon_insensitive", kernels="precomputed", repair="clip"),
        OneClassMKL(),
        OneClassMKL(kernels="precomputed", repair="clip"),
        MultiLabelMKL(),
        MultiLabelMKL(kernels="precomputed", repair="clip"),
        TwoStageMKL(),
        HypergraphEmbedding(),
        HypergraphEmbedding("hypergraph_smooth", "precomputed", repair="clip"),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator", [MKLClassifier, MKLRegressor, OneClassMKL, MultiLabelMKL, TwoStageMKL, HypergraphEmbedding]
)
def test_what_a_fit_would_make_is_not_there_before_it(estimator):
    members = dict(inspect.getmembers(estimator()))
    assert not [name for name in members if name.endswith("_") and not name.startswith("_")]


@pytest.mark.parametrize(("estimator", "check"), [case for model in PROBLEMS for case in about(model)], ids=named)
def test_scikit_learns_checks_of_other_problems(estimator, check):
    check(estimator)
