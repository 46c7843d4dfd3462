"""``tbx warmstart``: hands its arguments on to the trainer, which teaches a policy from demonstrations."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Start a policy from demonstrations."""
    from tb_trainer.warmstart import main as start

    return start(argv)
