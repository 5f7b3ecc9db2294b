"""`python -m mklcvx`, and the command `mklcvx`: an interrupt before or after the work is no traceback, either."""

import os
import signal

INTERRUPTED = 130  # the exit status


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as of a job in the background
        signal.signal(signal.SIGINT, _leave)
    from .cli.main import main as run

    try:
        run()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # the interpreter's own end may make a signal of it; all is flushed
            os._exit(INTERRUPTED)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done, and its end is not to be mistaken for another
        raise


def _leave(*_: object) -> None:
    try:
        os.write(2, b"mklcvx: interrupted\n")  # which may be closed
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
