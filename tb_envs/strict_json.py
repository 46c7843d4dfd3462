"""JSON that every reader takes, whatever an agent wrote into it: Python's own reads and writes numbers that are none.

A number that is not finite becomes text (``"Infinity"``), half a character an escape. Refuses to change anything else.
"""

from __future__ import annotations

import json
from typing import Any


def finite(value: Any) -> Any:
    """The same data, with text in place of numbers that are not finite; itself where there are none."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return json.loads(json.dumps(value), parse_constant=str)  # which also reads as deep as it was written
    return value


def strict_json(value: Any, **layout: Any) -> str:
    """Data as JSON in ASCII.

    Args:
        value: what `json.dumps` takes.
        layout: its ``indent`` or ``separators``.
    """
    try:
        return json.dumps(value, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(finite(value), **layout)
