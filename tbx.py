"""The console entry of `tbx`: answers Ctrl-C with one line and 130 from its first moment on. Decides nothing else.

The suite takes some tenths of a second to import. An interrupt inside of an import would come out as a traceback, or as
whatever the import makes of it; until the command runs there is nothing to keep, so it ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

BROKEN_OFF = 130
"""Exit code of what Ctrl-C ended."""
INTERRUPTED = "tbx: interrupted; nothing was begun\n"


def main() -> int:
    """Run the command and return its exit code."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.SIG_IGN:  # as in a job that a shell put into the background
        signal.signal(signal.SIGINT, _leave)
    try:
        from tb_envs.cli import main as command

        signal.signal(signal.SIGINT, usual)
        code = command()
        if code == BROKEN_OFF:  # a second Ctrl-C, while Python winds up, has nothing to break off any more
            signal.signal(signal.SIGINT, _end)
        return code
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTED)
        return BROKEN_OFF


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, INTERRUPTED.encode())
    os._exit(BROKEN_OFF)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(BROKEN_OFF)


if __name__ == "__main__":
    sys.exit(main())
