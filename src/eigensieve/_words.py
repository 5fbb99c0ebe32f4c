"""Numbers in sentences."""


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: "1 step", "1,200 steps"; `several` where the plural needs more than an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
