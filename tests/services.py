"""Services that tests need: where one is missing the test is skipped with the reason, and in CI it fails."""

from __future__ import annotations

import os

import pytest


def skip_or_fail(missing: str) -> None:
    """End the test where something is missing; `missing` says why, and is empty where nothing is."""
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"in CI this has to run: {missing}", pytrace=False)
    if missing:
        pytest.skip(missing)
