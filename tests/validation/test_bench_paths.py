"""The study of paths, in small: every row is measured once, and a second run measures nothing again."""

import pytest

from places import modules_of
from shared.journals import records


@pytest.fixture(scope="module")
def paths():
    return modules_of("validation/bench", "paths").paths


def test_a_small_run_makes_the_page_and_is_resumed(paths, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "FORMULATIONS", {"l1": {}, "sum": {}})
    given = ["--quick", "-o", str(tmp_path)]
    assert paths.main(given) == 0
    rows = [record["result"] for record in records(tmp_path / "paths.jsonl")]
    assert [(row["data"], row["formulation"]) for row in rows] == [("random", "l1"), ("random", "sum")]
    assert all(row["certified"] == row["points"] == 4 for row in rows)
    assert all(min(row["cv_ms"], row["path_ms"], row["cold_ms"]) > 0 for row in rows)
    page = (tmp_path / "paths.md").read_text("utf-8")
    assert "smoke run" in page
    assert page.count("`l1`") == 1
    monkeypatch.setattr(paths, "row_of", lambda *_: pytest.fail("measured again"))
    assert paths.main(given) == 0


def test_a_smoke_run_does_not_replace_the_results(paths):
    with pytest.raises(SystemExit):
        paths.main(["--quick"])
