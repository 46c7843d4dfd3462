"""A campaign in numbers: `summarize` turns rows of attempts into one JSON-able object with the keys listed here.

It reads rows one by one and keeps a few numbers of each, so a campaign of any size fits. It judges nothing anew (that
is `tb_envs.evaluation.regrade`) and drops nothing silently: what is left out of a figure stands beside it as a number.

**Counting.** A task is attempted ``n`` times and ``c`` of them succeed. An attempt that ended in a system error is no
attempt of the agent: it is in neither ``n`` nor ``c``; ``pass_at_1_all`` is the other reading, in which it is a
failure. Of rows that share task and attempt number the last one counts (``--retry-errors`` replaces rows); the others
are ``replaced``, and what they cost is still in the cost. Every figure is a mean over tasks, each task weighing the
same, unless its name ends in ``_pooled``. Where tasks have unequal ``n``, a figure at ``k`` is taken over the tasks
with ``n >= k`` and says how many these are.

**Intervals** are ``{"low", "estimate", "high"}``, or null where there is nothing to estimate: a percentile bootstrap
over tasks, not attempts (`tb_envs.evaluation.metrics.bootstrap`). **Points** of a curve are an interval's keys with
``k`` and ``tasks`` (those with ``n >= k``); the estimate is a mean over these tasks. The curves, by their exact names:

* ``pass_at_k``, unbiased: ``1 - C(n-c, k) / C(n, k)`` (Chen et al. 2021, arXiv 2107.03374, equation 1);
* ``pass_hat_k``, pass^k, unbiased: ``C(c, k) / C(n, k)`` (Yao et al. 2024, arXiv 2406.12045);
* ``observed_k_of_k``: all of the first ``k`` attempts succeeded, literally; ``passed`` is the number of such tasks;
* ``breadth``: at least one of the first ``k`` attempts succeeded; ``passed`` likewise.

"First" is by attempt number, system errors passed over. At ``k = n`` pass^k equals observed k-of-k, and pass@k equals
breadth. The plug-in ``(c/n)**k``, which some benchmarks print as pass^k, is biased upwards and is not computed: a task
solved 19 times of 20 has 0.36 of it at ``k = 20`` and 0 of pass^20. The headline's ``k`` is the largest that at least
nine tenths of the counted tasks have. A task that passes all ``k`` of its first ``k`` attempts is called dependable.

The keys; those of nested objects are always all there::

    attempts, counted, system_errors, passed     numbers of attempts; attempts = counted + system_errors
    planned, missing                             attempts planned and still missing, null where not said
    replaced                                     rows that a later row of the same attempt replaced
    tasks, tasks_counted                         with a row; with at least one counted attempt
    excluded                                     {reason: tasks left out before playing}, as given
    attempts_per_task                            {"min", "max"} of n over all tasks; unequal: whether they differ
    k                                            of the headline; 0 where nothing is counted
    headline          {"pass_at_1": interval, "pass_at_1_all": interval, "pass_at_1_pooled": passed / counted or null,
                       "pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth": point or null, at the headline's k}
    curves            {"pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth": [point]}; k = 1 … 32, then fewer
    by                {"domain", "family", "trap", "reference_length", "split", "cell": {name: group}}; a family is
                      "domain/family", a cell "domain/family: cell", lengths are texts, "none" where a task has none;
                      a task of several traps is in each of their groups
    grid              {domain: {trap: {"tasks", "attempts", "passed", "pass_at_1"}}}; attempts are counted ones
    guards, earned    what had to stay, what had to happen: {"checks", "passed": numbers of checks over all attempts,
                      "rate": interval of the share of attempts in which all of them passed, "k_of_k": point}
    kept_and_earned   attempts and, over their first k attempts, tasks: {"attempts", "tasks": {"both", "guards_only",
                      "earned_only", "neither"}}, tasks also {"k", "of"}
    failed_checks     [{"name", "kind", "count": attempts, "tasks"}], most frequent first
    outcomes          {outcome: attempts}
    ended_by          {name: {"attempts", "failed"}}; failed ones among the counted
    errors            [{"outcome", "error", "count"}] of system errors, most frequent first, 20 at most
    tool_errors       {"calls", "errors", "rate", "attempts_with", "malformed", "attempts_malformed"}; rate per call
    length            {"turns", "user_turns", "tool_calls"}: means over counted attempts, or null
    context           {"dropped": tool results, "attempts_with"}
    user_faults       {"attempts", "attempts_with", "rate": attempts_with / attempts, "faults", "user_turns",
                       "per_user_turn", "errors": attempts that ended as error:user}
    impossible        {"trap": "restraint", "with": group, "without": group}: the tasks whose right end is that what was
                      asked for is not done, and the others
    floor, ceiling    what the idle and the reference agent score at exactly these tasks: {"agent", "pass_at_1", "tasks",
                      "certified", "played", "unknown": {reason: tasks}}; see `tb_envs.evaluation.anchors`
    tokens            {"agent", "user", "judge": {"input", "cached_input", "output", "reasoning", "attempts",
                      "attempts_unknown"} or null where no attempt tells}; replaced rows included
    cost              see `tb_envs.evaluation.spending`
    seconds           {"total", "agent", "environment", "user", "judge", "grading", "waiting", "requests", "retried",
                      "slowed"}: sums over all rows
    versions          {"grader", "package": [text], "tools": {domain: [hash]}}
    per_task          [{"task_id", "task_hash", "domain", "family", "split", "traps", "cell", "reference_length", "n",
                      "c", "errors", "guards", "earned", "floor", "ceiling"}] by task id; guards and earned are numbers of
                      counted attempts in which all of the kind passed
    bootstrap         {"seed", "draws", "level"}

    group = {"tasks", "attempts", "counted", "system_errors", "passed", "pass_at_1": interval, "pass_at_1_all",
             "k": of the headline, "tasks_at_k", "pass_at_k", "pass_hat_k": number or null,
             "dependable", "breadth": numbers of tasks out of tasks_at_k, "guards", "earned": shares or null,
             "floor", "ceiling": number or null}
"""
