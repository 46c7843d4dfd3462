"""What a container runs: `python -m tb_envs.containers`. Nothing that is imported for a session is ever freed.

So the collector rests until all is loaded: it would take a tenth of the start.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()
    from tb_envs.containers.server import main

    main()
