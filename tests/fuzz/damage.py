"""Small damage of binary content."""

import numpy as np


def damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Return the content with a bit flipped, a part cut, removed, doubled, cleared or moved."""
    changed = bytearray(content)
    if not changed:
        return b"\0"
    first = int(rng.integers(len(changed)))
    last = min(len(changed), first + int(2 ** rng.uniform(0, 10)))
    kind = int(rng.integers(6))
    if kind == 0:
        changed[first] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del changed[first:]
    elif kind == 2:
        del changed[first:last]
    elif kind == 3:
        changed[first:first] = changed[first:last]
    elif kind == 4:
        changed[first:last] = bytes(last - first)
    else:
        there = int(rng.integers(len(changed)))
        changed[there : there + last - first] = changed[first:last]
    return bytes(changed)
