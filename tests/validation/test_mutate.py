"""The mutants are where they should be, leave the rest alone, and meet the tests of a copy."""

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from places import ROOT

SCRIPT = ROOT / "validation" / "mutate.py"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not SCRIPT.exists(), reason="validation/ is not beside the tests")]


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        return importlib.import_module("mutate")


def changed(mutate: ModuleType, source: str) -> list[str]:
    return [mutant.after for mutant in mutate.mutants_of("some.py", source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 3", ["x = 4", "x = 6"]),
        ("x = 1", ["x = 2"]),
        ("x = 0.0", ["x = 1.0"]),
        ("x = a + b", ["x = a - b"]),
        ("x = (α) * (b)", ["x = (α) / (b)"]),
        ("x = a**b", ["x = a*b"]),
        ("x += a", ["x -= a"]),
        ("x = -a", ["x = a"]),
        ("x = a[~b]", ["x = a[b]"]),
        ("x = a <= b", ["x = a < b", "x = a >= b"]),
        ("x = a < b == c", ["x = a <= b == c", "x = a > b == c", "x = a < b != c"]),
        ("x = a and b and c", ["x = a or b and c", "x = a and b or c"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = np.maximum(a, b).sum()", ["x = np.minimum(a, b).sum()", "x = np.maximum(a, b).max()"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("x = np.argsort(a.b)", ["x = np.argsort(-(a.b))"]),
        ("x = np.argsort(-a)", ["x = np.argsort(a)"]),
        ("x = cp.Variable(nonneg=True)", ["x = cp.Variable(nonneg=False)"]),
        ("x = (a if b else c)", ["x = ((c) if b else (a))"]),
        ("if a.b: pass", ["if not a.b: pass"]),
        ("x = (a  # less + b\n     - b)", ["+ b)"]),
    ],
)
def test_each_kind_of_change(mutate: ModuleType, source: str, expected: list[str]) -> None:
    assert changed(mutate, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""ν = 1 + 2"""',
        "def f(a: Literal[1]) -> Literal[2]: ...",
        "x: Literal[1]",
        "@dataclass(frozen=True)\nclass A: ...",
        "raise InputError(f'{a + 1}' if a < 0 else 2)",
        "x = f'{1 + 1:.3f}'",
        "__all__ = [1]",
        "if TYPE_CHECKING:\n    x = 1",
        "zip(a, b, strict=True)",
        "from a import b",
        'if __name__ == "__main__":\n    x()',
    ],
)
def test_what_claims_nothing_is_left_alone(mutate: ModuleType, source: str) -> None:
    assert changed(mutate, source) == []


def test_a_mutant_knows_its_place(mutate: ModuleType) -> None:
    source = '"""α"""\n\ndef f(β):\n    return β ** 2  # ½\n'
    mutants = mutate.mutants_of("some.py", source.encode())
    assert [m.apply(source.encode()).decode() for m in mutants] == [
        source.replace("**", "*"),
        source.replace("** 2", "** 3"),
        source.replace("** 2", "** 4"),
    ]
    assert {m.line for m in mutants} == {4}
    assert mutants[0].key == "some.py: return β ** 2 # ½ => return β * 2 # ½"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "formulations").rglob("*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_mutant_of_a_formulation_is_another_program(mutate: ModuleType, path: Path) -> None:
    source = path.read_bytes()
    mutants = mutate.mutants_of(path.name, source)
    programs = {ast.dump(ast.parse(mutant.apply(source))) for mutant in mutants}
    assert ast.dump(ast.parse(source)) not in programs
    assert len(programs) == len(mutants)
    assert mutants or path.stem in ("_cvxpy", "__init__")


STAGE = ("--tests", "tests/test_bounds.py")


def small_project(root: Path, test: str) -> Path:
    """A package with three mutants."""
    for folder in ("mklcvx", "formulations", "tests", "validation"):
        (root / folder).mkdir()
    (root / "mklcvx/__init__.py").touch()
    (root / "pyproject.toml").touch()
    (root / "formulations/__init__.py").write_text("def f(a, b):\n    return -max(abs(a), b)\n", encoding="utf-8")
    (root / "tests/test_bounds.py").write_text(f"from mklcvx.formulations import f\n\n{test}\n", encoding="utf-8")
    return root


@pytest.fixture
def light(mutate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small project imports no package that would have to be in memory before its tests."""
    monkeypatch.setattr(mutate, "HEAVY", ())


def test_a_small_project_from_end_to_end(mutate: ModuleType, tmp_path: Path) -> None:
    root = small_project(tmp_path, "def test_f():\n    assert f(3, 3) == -3")
    reasons = "# header\n\n__init__.py: return -max(abs(a), b) => return -min(abs(a), b)  # a = b\n"
    (root / "validation/equivalent_mutants.txt").write_text(reasons, encoding="utf-8")
    before = (root / "formulations/__init__.py").read_text(encoding="utf-8")
    assert mutate.main(["-o", str(root / "report.md"), *STAGE], root) == 0
    report = (root / "report.md").read_text(encoding="utf-8")
    assert "| __init__.py | 3 | 3 | 1 | 0 | 1 | 1 | 50.0% | 0 |" in report
    assert "Noticed by: tests/test_bounds.py (1)" in report
    assert "`__init__.py:2`\n\n```diff\n- return -max(abs(a), b)\n+ return -max(float(a), b)\n```" in report
    assert "`__init__.py:2` a = b\n" in report
    assert (root / "formulations/__init__.py").read_text(encoding="utf-8") == before


@pytest.mark.usefixtures("light")
def test_a_run_goes_on_where_it_ended(mutate: ModuleType, tmp_path: Path) -> None:
    """The journal's verdicts stand; a survivor is judged again if that is asked for, and so is a file that changed."""
    root = small_project(tmp_path, "def test_f():\n    assert f(3, 3) == -3")
    (root / "formulations/families").mkdir()
    (root / "formulations/families/task.py").write_text("def g(a):\n    return a + 1\n", encoding="utf-8")
    options = ["--journal", str(root / "journal"), "-o", str(root / "report.md"), *STAGE]

    def judged(*more: str) -> int:
        before = (root / "journal").read_text(encoding="utf-8").count("outcome") if (root / "journal").exists() else 0
        assert mutate.main([*more, *options], root) == 0
        return (root / "journal").read_text(encoding="utf-8").count("outcome") - before

    assert judged("--every", "2") == 2
    assert judged("--known") == 0
    assert "| all | 5 | 2 | 0 | 0 | 0 | 2 | 0.0% | 0 |" in (root / "report.md").read_text(encoding="utf-8")
    assert judged() == 3
    assert judged("--again") == 4
    (root / "formulations/families/task.py").write_text("def g(a):\n    return 2 * a\n", encoding="utf-8")
    assert judged("families/task") == 3
    assert judged("formulations/__init__.py", "--again") == 2


@pytest.mark.usefixtures("light")
def test_tests_that_fail_anyway_prove_nothing(
    mutate: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = small_project(tmp_path, "def test_f():\n    assert f(3, 3) == 3")
    with pytest.raises(SystemExit) as stop:
        mutate.main(["--jobs", "1", *STAGE], root)
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("tests/test_bounds.py fails without any mutation")
