"""``tbx select``: hands its arguments on to the trainer, which chooses the tasks that are worth training on."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Select tasks."""
    from tb_trainer.tasks.select import select

    return select(argv)
