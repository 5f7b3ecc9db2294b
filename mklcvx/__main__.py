"""`python -m mklcvx`, and the command `mklcvx`: an interrupt during the imports is no traceback, either."""

import os
import signal


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, _leave)
    from .cli.main import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(*_: object) -> None:
    os.write(2, b"mklcvx: interrupted; nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    main()
