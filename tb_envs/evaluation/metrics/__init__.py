"""The numbers that are drawn from attempts: pass@k, pass^k, intervals over tasks, and a campaign's `summarize`."""

from tb_envs.evaluation.metrics.bootstrap import Interval, Values, bootstrap_over_tasks, mean
from tb_envs.evaluation.metrics.formulas import pass_at_k, pass_hat_k
from tb_envs.evaluation.summary import summarize

__all__ = ["Interval", "Values", "bootstrap_over_tasks", "mean", "pass_at_k", "pass_hat_k", "summarize"]
