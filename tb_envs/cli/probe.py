"""``tbx probe``: hands its arguments on to the trainer, which plays the model before it is trained."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Probe tasks."""
    from tb_trainer.tasks.probe import probe

    return probe(argv)
