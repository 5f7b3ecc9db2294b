"""Which measurements tell how diabetes progresses? One kernel for each group of features, and their certified weights.

python examples/regression/diabetes.py [picture.png]

The data are scikit-learn's: ten features of 442 patients, and a measure of the disease's progression a year later. Each
group of features has a linear kernel and a Gaussian one. MKLRegressor learns their weights together with the function;
C is chosen by cross-validation on the training samples. Scores are of samples that were held out.
"""

from __future__ import annotations

import sys

from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_absolute_error, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from mklcvx import MKLRegressor, plot

GROUPS = {"age and sex": [0, 1], "body": [2, 3], "cholesterol": [4, 5, 6, 7], "triglycerides": [8], "glucose": [9]}
KINDS = ("linear", "gaussian")
BANK = [(f"{group}, {kind}", kind, columns) for group, columns in GROUPS.items() for kind in KINDS]
PRICES = [0.1, 1.0, 10.0, 100.0]


def main(picture: str | None = None) -> None:
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.25, random_state=0)
    candidates = {
        "MKL, squared loss": (MKLRegressor("l1", BANK), {"C": PRICES}),
        "MKL, huber": (MKLRegressor("l1", BANK, loss="huber", delta=1.0), {"C": PRICES}),
        "kernel ridge": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}),
        "SVR": (SVR(), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}),
    }
    found = {}
    print(f"{'':18}    R²   RMSE    MAE")
    for name, (model, grid) in candidates.items():
        prefixed = {f"{type(model).__name__.lower()}__{key}": values for key, values in grid.items()}
        search = GridSearchCV(make_pipeline(StandardScaler(), model), prefixed, cv=3).fit(train_X, train_y)
        found[name] = best = search.best_estimator_
        predicted = best.predict(test_X)
        errors = root_mean_squared_error(test_y, predicted), mean_absolute_error(test_y, predicted)
        print(f"{name:18} {best.score(test_X, test_y):.3f}  {errors[0]:.3f}  {errors[1]:.3f}")
    learned = found["MKL, squared loss"][-1]
    print(f"\ncertified: {learned.solutions_[0].certified}, relative gap {learned.certificate_.relative_gap:.0e}")
    for name, share in sorted(
        zip(learned.kernel_names_, learned.scaled_weights_, strict=True), key=lambda pair: -pair[1]
    ):
        print(f"  {name:24} {share:.3f}")
    if picture is not None:
        axes = plot.predictions(test_y, found["MKL, squared loss"].predict(test_X))
        axes.figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
