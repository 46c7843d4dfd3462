"""``tbx report``: hands its arguments on to the trainer, which writes what runs show as one HTML file."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Write a report."""
    from tb_trainer.report.command import main as report

    return report(argv)
