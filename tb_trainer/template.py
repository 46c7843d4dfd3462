"""Which chat template a model is trained with: its own, its additive variant, or a file.

Some templates drop the thoughts of earlier turns once the customer speaks again (Qwen3 and Qwen3.5). A model that is
trained on its own unbroken stream of tokens and served by such a template would read other prompts than it was trained
on. The additive variant keeps every turn as it was rendered. It is put into the tokenizer, and so into every
checkpoint: whoever serves one renders what was trained on. A ChatML template that knows no tools at all (SmolLM2) has
one, too: the same turns, with the tools shown and the calls written. Whether a template really is additive is for
`tb_trainer.render` to measure; nothing is believed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.parse.template import CHATML, template_of

_FORGETS = (
    # Qwen3, Qwen3.5, Qwen3.6 and those made from them: only turns after the last words of the customer keep thoughts …
    ("loop.index0 > ns.last_query_index", "true"),
    # … and, in Qwen3, of these only the last turn keeps an empty one.
    ("loop.last or (not loop.last and reasoning_content)", "true"),
)


def use_template(tokenizer: Any, choice: str = "native") -> None:
    """Give the tokenizer the chosen template.

    Args:
        tokenizer: is changed.
        choice: ``native``, ``additive``, or the path of a template in Jinja.
    """
    if choice == "native":
        return
    if choice == "additive":
        tokenizer.chat_template = additive(tokenizer)
        return
    path = Path(choice)
    if path.suffix != ".jinja" or not path.is_file():
        raise UsageError(f"model.template: {choice!r} is neither native nor additive nor a .jinja file that exists")
    tokenizer.chat_template = path.read_text("utf-8")


def additive(tokenizer: Any) -> str:
    """The additive variant of the tokenizer's template: ours where we know what it drops, else TRL's, else as it is."""
    own = changed = template_of(tokenizer)
    if "<|im_start|>" in own and "tool" not in own:
        return CHATML
    for condition, kept in _FORGETS:
        changed = changed.replace(condition, kept)
    if changed != own:
        return changed
    try:
        from trl.chat_template_utils import get_training_chat_template
    except ImportError:
        return own
    try:
        return get_training_chat_template(tokenizer) or own
    except Exception:  # TRL knows this template as little as we do, or cannot render with it
        return own
