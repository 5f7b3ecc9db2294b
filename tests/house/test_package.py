"""The package as it is shipped: complete, quick to import, one static list of formulations."""

import shutil
import subprocess
import sys
import zipfile

import pytest

from mklcvx import formulations
from places import ROOT

pytestmark = pytest.mark.slow


def test_the_wheel_has_every_file(tmp_path):
    source = tmp_path / "source"
    for folder in ("mklcvx", "formulations"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(wheel).namelist())
    expected = {str(p.relative_to(source)) for p in (source / "mklcvx").rglob("*") if p.is_file()}
    expected |= {f"mklcvx/{p.relative_to(source)}" for p in (source / "formulations").rglob("*.py")}
    assert expected <= shipped
    assert not any(name.startswith(("formulations/", "tests/", "validation/")) for name in shipped)


def test_every_formulation_file_is_in_the_list():
    files = {path.stem for path in (ROOT / "formulations").glob("[a-z]*.py")}
    assert {f.name for f in formulations.FORMULATIONS} == files


def test_every_theorem_states_what_a_theorem_must():
    for formulation in formulations.FORMULATIONS:
        theorem = formulation.theorem
        assert theorem.startswith(f"{formulation.name} — ")
        for part in ("primal", "dual", "From one to the other", "recovery", "multipliers", "Degenerate", "Reference:"):
            assert part in theorem, f"{formulation.name}: {part}"
        for parameter in formulation.parameters:
            assert "Parameters:" in theorem
            assert parameter.default_text


def test_every_parameter_is_described_with_its_default():
    for formulation in formulations.FORMULATIONS:
        assert formulation.parameter_names
        assert len(set(formulation.parameter_names)) == len(formulation.parameter_names)
        for name, meaning in formulation.described_parameters:
            assert "default " in meaning, f"{formulation.name}: {name}"
        assert {p.name for p in formulation.parameters} <= set(formulation.parameter_names)


def test_single_tasks_come_first_and_every_family_is_there():
    singles, all_of_them = formulations.SINGLE_TASKS, formulations.FORMULATIONS
    assert all_of_them[: len(singles)] == singles
    assert {f.family for f in singles} == {"single task"}
    assert {f.family for f in all_of_them[len(singles) :]} == {"many labels", "two stages", "hypergraph"}
    assert len({f.name for f in all_of_them}) == len(all_of_them)


def test_importing_the_package_and_its_command_line_is_cheap():
    """CVXPY, SciPy and scikit-learn are imported when something is solved, not before."""
    code = "import sys, mklcvx, mklcvx.cli.main; print([m for m in ('cvxpy', 'scipy', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


CHECKERS = sorted(path.stem for path in (ROOT / "mklcvx" / "checker").glob("*.py"))
STANDARD = {"decimal", "fractions", "io", "json", "math", "os", "sys", "typing", "warnings", "zipfile"}


@pytest.mark.parametrize("name", CHECKERS)
def test_the_checkers_depend_on_numpy_and_each_other_alone(name):
    text = (ROOT / "mklcvx" / "checker" / f"{name}.py").read_text(encoding="utf-8")
    imports = {line.split()[1] for line in text.splitlines() if line.strip().startswith(("import ", "from "))}
    assert imports <= {"numpy", *STANDARD, *(f".{other}" for other in CHECKERS)}


def test_completion_offers_what_is_public_and_a_misspelt_name_its_neighbour():
    import mklcvx

    assert {name for name in dir(mklcvx) if not name.startswith("__")} == {*mklcvx.__all__} - {"__version__"}
    with pytest.raises(AttributeError) as refused:
        mklcvx.MKLClasifier  # noqa: B018
    assert (refused.value.name, refused.value.obj) == ("MKLClasifier", mklcvx)  # Python makes a hint of them
    assert mklcvx.estimators.bank.__doc__
