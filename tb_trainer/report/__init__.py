"""What training runs show, as one HTML file: curves, tables over time, and how a policy did before and after.

`command` is ``tbx report``; `page` puts the sections in order. Everything is read from the files of runs
(``log.jsonl``, ``config.json``, ``evaluations/*.jsonl``) by `read`; numbers of evaluations are made in `stats`; markup
and charts are small and our own (`markup`, `charts`), so the file needs no network, no script and no library. Refuses
to guess: what a log does not hold is shown as missing, and what was cut off is said.
"""
