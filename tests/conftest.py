"""The toy company is installed for tests as any domain is: by an entry point. Ctrl-C is what it is at a terminal."""

from __future__ import annotations

import signal
from importlib.metadata import EntryPoint

import tb_envs.registration as registration

# A run that was started in the background inherits an ignored SIGINT, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

registration._found()["library"] = EntryPoint("library", "toy_library:domain", registration.GROUP)
registration.register_all()
