"""The library's families."""
