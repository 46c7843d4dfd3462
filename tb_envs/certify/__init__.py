"""Proofs about tasks and domains: a task without its certificate cannot be in a suite."""
