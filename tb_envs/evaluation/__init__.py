"""How well an agent does: campaigns of tasks and attempts, and the numbers that are drawn from them."""

from tb_envs.evaluation.metrics import Interval, bootstrap_over_tasks, pass_at_k, pass_hat_k, summarize

__all__ = ["Interval", "bootstrap_over_tasks", "pass_at_k", "pass_hat_k", "summarize"]
