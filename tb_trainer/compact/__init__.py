"""The compact rendering (`environment.prompt: tiny`): whole episodes in a few hundred tokens, for a tiny model.

Only what the model reads and writes is compact; the environment, its tools, its database and the customer stay as they
are. `results` shortens what the agent is told: a system line in place of instructions, policy and tool schemas, and the
results of tools without blanks, without empty fields and without the fields that no rule needs (one declared list a
tool, in ``DOMAIN.yaml``). `tokenizer` makes tokens of it: keys and heads of calls as single ones, digits one by one.
"""

from tb_trainer.compact.results import COMPACT, compact_result, shown_fields, system_line

__all__ = ["COMPACT", "compact_result", "shown_fields", "system_line"]
