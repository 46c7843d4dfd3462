"""``tbx train``: hands its arguments on to the trainer, which has its own help, output and exit codes."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Run the trainer."""
    from tb_trainer.cli import main as train

    return train(argv)
