"""``tbx evaluate``: hands its arguments on to the trainer, which plays a policy on tasks it never trained on."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Evaluate a policy."""
    from tb_trainer.trials import main as evaluate

    return evaluate(argv)
