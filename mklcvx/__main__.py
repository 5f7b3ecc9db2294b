"""`python -m mklcvx`, and the command `mklcvx`: an interrupt before or after the work is no traceback, either."""

import os
import signal


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as of a job in the background
        signal.signal(signal.SIGINT, _leave)
    from .cli.main import main as run

    run()


def _leave(*_: object) -> None:
    try:
        os.write(2, b"mklcvx: interrupted\n")  # which may be closed
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
