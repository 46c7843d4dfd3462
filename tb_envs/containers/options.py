"""The options of ``backend={"kind": "docker", …}``, checked: what is wrong is told before a container is started."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tb_envs.errors import UsageError


@dataclass(frozen=True)
class ContainerOptions:
    """How containers are run.

    Attributes:
        image: in place of the one that `tbx images build` makes of the domain's source as it is now.
        pool: containers that are started with the first episode and kept ready. More are started when more episodes
            run at once, and are kept as well.
        episodes: that one container plays before it is replaced.
        deadline: seconds for a call, and for the opening of a session.
        starting: seconds for a new container to answer.
        lease: seconds after which a container ends that nobody owns or that hangs; at least `deadline`.
        memory: MiB, for all of a container.
        processes: that may exist in a container at once.
        cpus: cores' worth of time.
        folder: where sockets are made; the engine must see it under the same path. The system's temporary one if empty.
    """

    image: str = ""
    pool: int = 1
    episodes: int = 100
    deadline: float = field(default=20.0, compare=False)  # a session's own: containers are the same with any
    starting: float = 30.0
    lease: float = 30.0
    memory: int = 256
    processes: int = 64
    cpus: float = 1.0
    folder: str = ""

    def __post_init__(self) -> None:
        for item in fields(self):
            value: object = getattr(self, item.name)
            if isinstance(item.default, str):
                if not isinstance(value, str):
                    raise UsageError(f"option {item.name!r} of backend 'docker' is text, got {value!r}")
                continue
            whole = isinstance(item.default, int)
            kinds = (int,) if whole else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < 1e6:
                what = "a whole number" if whole else "a number"
                raise UsageError(f"option {item.name!r} of backend 'docker' is {what} above 0, got {value!r}")
        if self.deadline > self.lease:
            raise UsageError(
                f"deadline {self.deadline:g} is longer than lease {self.lease:g}: the container would end first"
            )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ContainerOptions:
        """Options from what a user wrote beside ``kind``."""
        if "store" in given:
            raise UsageError(
                "backend 'docker' takes no store: a container has no network, so its database is its own. "
                "For PostgreSQL the backend is {'kind': 'embedded', 'store': 'postgresql://…'}"
            )
        names = [item.name for item in fields(cls)]
        for name in given:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise UsageError(f"unknown option {name!r} of backend 'docker'.{hint} valid: {', '.join(names)}")
        return cls(**given)
