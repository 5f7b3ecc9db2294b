"""Files are written through one door, `mklcvx/io/writing.py`: whole or not at all."""

import ast

from places import check_nobody_else

# The door itself, and what is written into a folder that somebody else disposes of.
MAY = {
    "mklcvx/io/writing.py": "the door",
    "mklcvx/io/folders.py": "fills a folder that the door moves into place",
    "mklcvx/bench/external.py": "the log of a command, in a temporary folder",
    "mklcvx/bench/worker.py": "a pipe, and a switch of the system under /proc",
}
STREAMS = {"file", "stream", "written", "out"}  # what the door hands over, or memory
WRITERS = {
    "write_text", "write_bytes", "touch", "rename", "hardlink_to", "symlink_to", "tofile", "np.save", "savez",
    "savetxt", "savez_compressed", "savemat", "savefig", "to_csv", "dump", "copy2", "copyfile", "copytree", "move",
    "mkstemp",
}  # fmt: skip
OURS = {"io", "writing", "files"}


def called(node):
    """The name of what is called; NumPy's `save` with its module, since objects of ours have such a method."""
    if ast.unparse(node.func) == "np.save":
        return "np.save"
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def opens_for_writing(node):
    """Whether a call of `open` or `fdopen` has a mode that writes; descriptors of `os.open` are no files by name."""
    words = [one.value for one in [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
             if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
    flags = [one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr.startswith("O_")]
    to_nothing = any(isinstance(one, ast.Attribute) and one.attr == "devnull" for one in ast.walk(node))
    modes = any(len(word) <= 3 and set(word) & set("wax+") for word in words)
    return modes or (any(flag in ("O_WRONLY", "O_RDWR", "O_CREAT") for flag in flags) and not to_nothing)


def writes(text):
    """The lines of a file on which something is written by a name."""
    tree = ast.parse(text)
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and OURS & set((node.module or "").split("."))
        for alias in node.names
    }
    for node in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
        name, first = called(node), node.args[0] if node.args else None
        to_stream = isinstance(first, ast.Name) and first.id in STREAMS
        if name in ours and isinstance(node.func, ast.Name):
            continue
        if (name in ("open", "fdopen") and opens_for_writing(node)) or (name in WRITERS and not to_stream):
            yield node.lineno


def test_nobody_but_the_door_writes_files():
    check_nobody_else(writes, MAY)


def test_the_test_sees_writers():
    seen = (
        "open(path, 'w')", "path.open('xb')", "path.open(mode='a')", "path.write_text('x')", "np.savez(path, a=1)",
        "np.save(path, a)",
        "figure.savefig(path)", "os.open(path, os.O_WRONLY | os.O_CREAT)", "json.dump(x, open(path, 'w'))",
    )  # fmt: skip
    fine = ("open(path)", "path.open('rb')", "np.savez(file, a=1)", "os.open(os.devnull, os.O_WRONLY)",
            "from ..io.writing import write_text\nwrite_text(path, 'x')")  # fmt: skip
    assert [text for text in seen if not list(writes(text))] == []
    assert [text for text in fine if list(writes(text))] == []
