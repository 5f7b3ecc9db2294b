"""What is right about how a sequence ended: it is compared with an undisturbed run, and with what it was told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seam_children import ITSELF, OLD, Ended, Seam
from seam_conditions import is_of_root
from seam_works import alike, printed_tree, same_problem, solutions_in, written_tree

STATUSES = (0, 1, 2, 130, 141)
LATE = 0.6  # of the calls: a solve has certified something by then
CARRIES = ("solve", "solve_path", "solve_streamed")
PARTS = ("cross_validate", "kernel_importance")  # which carry no solutions
REFUSALS = ("InputError", "InputTypeError", "NotEnoughMemory", "MemoryError")
IGNORED = "Exception ignored"  # the interpreter has lost an interrupt, where nothing can be raised
ZERO = ("f = 0", "zero")  # what a solution that is none is called


def verdict(seam: Seam, ended: Ended, known: Ended, first: Ended) -> tuple[str, str]:
    """In what it ended, and what is wrong with that; `known` is an undisturbed run, `first` one in another storage."""
    if ended.status is None:
        return "fault", "it hangs"
    if ended.status < 0 or ended.fault == ITSELF:
        return "fault", f"died with status {ended.status}: {(ended.message or ended.err)[-500:]!r}"
    judge = _of_python if seam.place == "python" else _of_command
    fault = next(judge(seam, ended, known, first), "")
    if fault:
        return "fault", fault
    if seam.place == "python":
        return ("exception" if ended.fault else "reference"), ""
    return ("reference" if ended.status == known.status else "status"), ""


# ----------------------------------------------------------------------------------------------------------- in Python
def _of_python(seam: Seam, ended: Ended, known: Ended, first: Ended) -> Iterator[str]:
    right = known.answers[0] if known.answers else None
    if right is None or not same_problem(right, first.answers[0], seam.storage):
        yield f"undisturbed, it has no answer or another one than in {seam.work.storages[0]}: {known.message}"
    may_refuse = any(one.refuses for one in seam.conditions)
    is_right = [alike(answer, right) or (may_refuse and _refused(answer)) for answer in ended.answers]
    if ended.fired and not ended.fault and IGNORED not in ended.err:
        yield f"an interrupt was swallowed{'' if all(is_right) else ', and the answer is another one'}"
    if not all(is_right):
        wrong = ended.answers[is_right.index(False)]
        yield f"a thread raised {wrong['raised']}" if "raised" in wrong else "another answer"
    if ended.fault:
        yield from _of_exception(seam, ended, right)
    if changes := set(ended.changes) - _of_others(seam, ended):
        yield f"changed: {', '.join(sorted(changes))}"
    if ended.again is not None and not alike(ended.again, right):
        yield "done again afterwards, it has another answer"
    if ended.out:
        yield f"it printed {ended.out[:80]!r}"
    if "Traceback" in ended.err and IGNORED not in ended.err and seam.storage != "dask":  # whose tasks speak of theirs
        yield f"it said {ended.err[:200]!r}"


def _refused(answer: Any) -> bool:
    """Whether this is how a thread was refused."""
    return str(answer.get("raised", "")).startswith(REFUSALS) if isinstance(answer, dict) else False


def _of_others(seam: Seam, ended: Ended) -> set[str]:
    """What other packages change: NumPy's `errstate` stays, if an interrupt comes within it; scikit-learn's `Parallel`
    sets filters in every thread; Dask's client has threads, which draw."""
    own = {"errstate"} if ended.in_errstate else set[str]()
    if seam.storage == "dask":
        return {*own, "threads", "random numbers"}
    several = seam.work.name in ("GridSearchCV", "kernel_importance") and seam.threads > 1
    return {*own, "warning filters"} if several else own


def _of_exception(seam: Seam, ended: Ended, right: Any) -> Iterator[str]:
    if ended.is_half_fitted and ended.inside:
        yield f"fitted after {ended.fault}"
    if ended.fault == "KeyboardInterrupt":
        if seam.interrupt == "none":
            yield "interrupted by nobody"
        late = ended.fired and ended.inside and seam.interrupt == "after calls" and seam.share > LATE
        carries = ended.carried is not None if seam.work.name in PARTS else ended.carried
        if late and seam.work.name in (*CARRIES, *PARTS) and not carries:
            yield "the interrupt carries no solution"
        for record in ended.carried or ():
            yield from _dishonest(record, solutions_in(right), interrupted=True)
    elif ended.fault not in REFUSALS or "\n" in ended.message:
        yield f"raised {ended.fault}: {ended.message[:200]!r}"
    elif not any(one.refuses for one in seam.conditions):
        yield f"refused without need: {ended.message[:200]!r}"


def _dishonest(record: dict[str, Any], right: list[dict[str, Any]], *, interrupted: bool) -> Iterator[str]:
    """What a solution that is handed over before the end says of itself, if that is not so."""
    bounds, same = record["certificate"], [one for one in right if one["parameters"] == record["parameters"]]
    lower, upper = (_number(bounds[name], sign) for name, sign in (("lower", -1), ("upper", 1)))
    for other in same:
        if lower > other["certificate"]["upper"] or upper < other["certificate"]["lower"]:
            yield f"bounds {lower} and {upper} exclude the optimum"
    if right and not same:
        yield "the solution of another problem"
    if record["status"] == "certified" and not bounds["relative_gap"] <= record["tolerance"]:
        yield "called certified, and is not"
    if record["status"] != "certified" and not record["message"]:
        yield "nothing says why it is not certified"
    unproved = interrupted and record["status"] != "certified"
    if unproved and record.get("zero") and not any(word in record["message"] for word in ZERO):
        yield f"a zero function that is not called one: {record['message'][:150]!r}"


def _number(value: float | None, sign: int) -> float:
    return sign * float("inf") if value is None else value


# ----------------------------------------------------------------------------------------------------- by command
def _of_command(seam: Seam, ended: Ended, known: Ended, first: Ended) -> Iterator[str]:
    kind = seam.work.output.printed
    if known.status not in (0, 1) or (known.status and not known.out and kind):
        yield f"undisturbed, it has no answer: {known.err}"
    right = _answers(seam, known)
    if not same_problem(right, _answers(seam, first), seam.storage):
        yield f"undisturbed, it has another answer than from {seam.work.storages[0]}"
    lost = {what for one in seam.conditions for what in one.loses}
    yield from _status(seam, ended, known, lost)
    if "said" not in lost:
        yield from _said(ended, known)
    if ended.status == known.status and kind and not _prints_alike(seam, ended, known):
        yield f"status {ended.status}, and the output is not the answer: {ended.out[:80]!r}"
    yield from _files(seam, ended, known, right[1])


def _answers(seam: Seam, ended: Ended) -> list[Any]:
    """What was printed and what was written, of an undisturbed run."""
    kind, name = seam.work.output
    printed = printed_tree(kind, ended.out) if kind else None
    return [printed, _read(name, ended.files[name]) if name else None]


def _read(name: str, content: bytes) -> Any:
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        return written_tree(file)


def _status(seam: Seam, ended: Ended, known: Ended, lost: set[str]) -> Iterator[str]:
    status, interrupted = ended.status, seam.interrupt != "none"
    excused = {"printed": seam.work.output.printed, "written": seam.work.output.written}
    if status not in STATUSES:
        yield f"status {status}: {ended.err[-300:]!r}"
    if status == 130 and not interrupted:
        yield "interrupted by nobody"
    if ended.fired and status == known.status and IGNORED not in ended.err:
        yield f"an interrupt was swallowed: status {status}"
    if status in (known.status, 130):
        return
    is_unread = seam.storage == "mat" and is_of_root()
    excuses = any(one.refuses or (one.is_nobody and is_unread) for one in seam.conditions)
    if not any(excused.get(what) for what in lost) and not excuses:
        yield f"status {status} without need: {ended.err[-300:]!r}"
    if "a defect of mklcvx" in ended.err:
        yield f"called a defect: {ended.err[-300:]!r}"


def _said(ended: Ended, known: Ended) -> Iterator[str]:
    lines = ended.err.splitlines()
    if "Traceback" in ended.err and IGNORED not in ended.err:
        yield f"a traceback: {ended.err[:300]!r}"
    if ended.status not in (known.status, 141) and not any(line.startswith("mklcvx: ") for line in lines):
        yield f"status {ended.status}, and nothing says why: {ended.err[:200]!r}"
    own = [line for line in lines if line not in known.err.splitlines()]
    if ended.status == 2 and len(own) != 1:
        yield f"a refusal of {len(own)} lines: {ended.err[:300]!r}"


def _prints_alike(seam: Seam, ended: Ended, known: Ended) -> bool:
    kind = seam.work.output.printed
    if kind == "words" and any(one.name == "C locale" for one in seam.conditions):  # other characters, as many lines
        return len(ended.out.splitlines()) == len(known.out.splitlines())
    try:
        return alike(printed_tree(kind, ended.out), printed_tree(kind, known.out))
    except ValueError:
        return False


def _files(seam: Seam, ended: Ended, known: Ended, right: Any) -> Iterator[str]:
    name = seam.work.output.written
    kept = {name, f"{name}.part"} if ended.status != 0 else {name}
    if left := sorted(ended.files.keys() - kept):
        yield f"left behind: {left[0]}"
    if not name:
        return
    content, before = ended.files.get(name), OLD if seam.old else None
    if content == before:
        if ended.status == known.status:
            yield f"status {ended.status}, and nothing was written"
        return
    try:
        found = _read(name, content or b"")
    except Exception as fault:
        yield f"the output is damaged: {type(fault).__name__}: {fault}"
        return
    if "nothing was written" in ended.err:
        yield "something was written, and it says that nothing was"
    if alike(found, right):
        return
    if ended.status != 130:
        yield f"status {ended.status}, and another answer was written"
    for record in solutions_in(found):
        record["zero"] = not any(record["norms"] or ()) and not any(record["weights"] or ())
        yield from _dishonest(record, solutions_in(right), interrupted=True)
