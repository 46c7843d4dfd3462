"""What the current guide pages decide: GP-02, GP-03, GP-05, GP-06. A superseded page decides nothing."""

from __future__ import annotations

FOREIGN_SHARE = {"basic": 3, "plus": 2, "premier": 0}
"""Percent of the payment in dollars (GP-02)."""
MONTHLY_FEE = {"basic": 400, "plus": 900, "premier": 0}
"""Of a current account; other kinds cost none (GP-03)."""
OPEN_COUNTRIES = ("Canada", "Iceland", "Ireland", "Japan", "Portugal")
"""Where cards may be used; every other country is closed (GP-05)."""
FORMER_COUNTRIES = ("Brazil", "Mexico", "Norway", "Kenya", "Vietnam")
"""Open in earlier years, and closed today (GP-04, GP-05)."""
TROUBLE = {"minor": 3500, "serious": 8000, "severe": 17500}
"""By the recorded gravity, the same for all segments (GP-06)."""
