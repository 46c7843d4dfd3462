"""Judging an episode from its row changes and log; runs where the agent cannot reach."""
