"""The library's rules."""

SHARE = 50


def halved(fee: int) -> int:
    """Policy 1: what is left of a fee."""
    return fee * SHARE // 100
