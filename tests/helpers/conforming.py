"""What `conform` finds, by trials in a process that tests share: starting one costs more than most trials."""

from mklcvx import zoo
from mklcvx.bench.conformance.summary import Conformance, assignment
from mklcvx.bench.conformance.trials import Room, suitable


def conformed(room: Room, solver: str, formulation: str, specimens=None, level: str = "mid", **given) -> Conformance:
    """As `mklcvx.conform`, in a room that is open."""
    task = assignment(solver, formulation, given, level=level)
    names = suitable(formulation, specimens, given.get("loss"))
    found = tuple(room.trial(task, zoo.specimen(name)) for name in names)
    return Conformance(solver, formulation, given, level, task.time_limit, found)
