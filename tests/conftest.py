"""The toy company is installed for tests as any domain is: through an entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import tb_envs.registration as registration

registration._found()["library"] = EntryPoint("library", "toy_library:domain", registration.GROUP)
registration.register_all()
