"""Damage for files: small changes that parsers have fallen for before."""

import gzip
import io
import re
import zipfile
import zlib

import numpy as np

Rng = np.random.Generator

_NUMBERS = (0, 1, -1, 127, 255, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
_BYTES = (
    b"\0",
    b"\r",
    b"\r\n",
    b"\n",
    b"\t",
    b" ",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x1b[2J",
    "\u0661\u0660".encode(),
)
_MARKS = rb"""" "" ' , ; % # : - + _ . .."""
_CELLS = (
    b"nan NA inf -Infinity 1e308 1e999 -1 0 1_0 0x10 1e 1e-400 True =1+1 qid:1 9007199254740993 2000000000 4000000000"
)
_HEADS = b"symmetric complex pattern array 99999999999999999999 0000000000000000000000000000000000000000000000000001"
_WORDS = (*_BYTES, *_MARKS.split(), *_CELLS.split(), *_HEADS.split(), b"1" * 400)


def damaged_binary(rng: Rng, data: bytes) -> bytes:
    """A few changes of bits, bytes, numbers or ranges."""
    for _ in range(int(rng.geometric(0.6))):
        data = _BINARY[int(rng.integers(len(_BINARY)))](rng, data) if data else bytes([int(rng.integers(256))])
    return data


def damaged_text(rng: Rng, data: bytes) -> bytes:
    """A few changes of words, lines or bytes."""
    for _ in range(int(rng.geometric(0.6))):
        data = _TEXT[int(rng.integers(len(_TEXT)))](rng, data) if data else b"1"
    return data


def damaged_gzip(rng: Rng, data: bytes) -> bytes:
    """Damage inside a gzip file, or the gzip file itself."""
    if rng.random() < 0.3:
        return damaged_binary(rng, data)
    return gzip.compress(damaged_text(rng, gzip.decompress(data)), 1)


def damaged_zip(rng: Rng, data: bytes) -> bytes:
    """Damage inside one member of a zip archive, or the archive itself."""
    if rng.random() < 0.3:
        return damaged_binary(rng, data)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        infos = old.infolist()
        chosen = int(rng.integers(len(infos)))
        for number, info in enumerate(infos):
            content = old.read(info)
            if number == chosen:
                # the header of a .npy file is text in its first 128 bytes
                head = damaged_text(rng, content[:128]) if rng.random() < 0.5 else content[:128]
                content = head + content[128:] if rng.random() < 0.5 else damaged_binary(rng, content)
            kind = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)[int(rng.integers(4))]
            new.writestr(info.filename, content, compress_type=kind)
    return out.getvalue()


def damaged_npy(rng: Rng, data: bytes) -> bytes:
    """Damage of the header, which is text, or of the numbers."""
    return damaged_text(rng, data[:128]) + data[128:] if rng.random() < 0.5 else damaged_binary(rng, data)


def damaged_mat(rng: Rng, data: bytes) -> bytes:
    """Damage inside one compressed variable of a MATLAB file, or anywhere."""
    parts, place = [], 128
    while place + 8 <= len(data):
        kind, size = (int.from_bytes(data[at : at + 4], "little") for at in (place, place + 4))
        if kind != 15:
            break
        parts.append(data[place + 8 : place + 8 + size])
        place += 8 + size
    if not parts or rng.random() < 0.3:
        return damaged_binary(rng, data)
    chosen = int(rng.integers(len(parts)))
    parts[chosen] = zlib.compress(damaged_binary(rng, zlib.decompress(parts[chosen])))
    return data[:128] + b"".join((15).to_bytes(4, "little") + len(part).to_bytes(4, "little") + part for part in parts)


def _place(rng: Rng, data: bytes) -> int:
    """Somewhere in the data; often near its beginning or end, where headers and footers are."""
    size = len(data)
    if rng.random() < 0.4:
        near = int(min(size - 1, rng.integers(0, 400)))
        return near if rng.random() < 0.5 else size - 1 - near
    return int(rng.integers(size))


def _range(rng: Rng, data: bytes) -> tuple[int, int]:
    first = _place(rng, data)
    return first, min(len(data), first + int(2 ** rng.uniform(0, 10)))


def _flip(rng: Rng, data: bytes) -> bytes:
    place = _place(rng, data)
    return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]


def _number(rng: Rng, data: bytes) -> bytes:
    size = int(rng.choice([1, 2, 4, 8]))
    value = _NUMBERS[int(rng.integers(len(_NUMBERS)))] % 256**size
    place = _place(rng, data)
    if rng.random() < 0.7:
        place -= place % size
    return data[:place] + value.to_bytes(size, "little" if rng.random() < 0.8 else "big") + data[place + size :]


def _noise(rng: Rng, data: bytes) -> bytes:
    first, last = _range(rng, data)
    return data[:first] + rng.bytes(last - first) + data[last:]


def _zeros(rng: Rng, data: bytes) -> bytes:
    first, last = _range(rng, data)
    return data[:first] + bytes(last - first) + data[last:]


def _cut(rng: Rng, data: bytes) -> bytes:
    return data[: _place(rng, data)]


def _delete(rng: Rng, data: bytes) -> bytes:
    first, last = _range(rng, data)
    return data[:first] + data[last:]


def _repeat(rng: Rng, data: bytes) -> bytes:
    first, last = _range(rng, data)
    return data[:last] + data[first:last] * int(2 ** rng.uniform(0, 6)) + data[last:]


def _move(rng: Rng, data: bytes) -> bytes:
    first, last = _range(rng, data)
    place = _place(rng, data)
    return data[:place] + data[first:last] + data[place + last - first :]


def _insert_word(rng: Rng, data: bytes) -> bytes:
    place = _place(rng, data)
    return data[:place] + _word(rng) + data[place:]


def _replace_word(rng: Rng, data: bytes) -> bytes:
    words = list(re.finditer(rb"[^\s,;:()]+", data[:100_000]))
    if not words:
        return _word(rng)
    chosen = words[int(rng.integers(len(words)))]
    return data[: chosen.start()] + _word(rng) + data[chosen.end() :]


def _word(rng: Rng) -> bytes:
    word = _WORDS[int(rng.integers(len(_WORDS)))]
    return word * (1 if rng.random() < 0.9 else int(2 ** rng.uniform(0, 10)))


def _lines(rng: Rng, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    chosen = int(rng.integers(len(lines)))
    action = int(rng.integers(3))
    if action == 0:
        del lines[chosen]
    elif action == 1:
        lines.insert(int(rng.integers(len(lines))), lines[chosen])
    else:
        lines[chosen] = b"\n" * int(2 ** rng.uniform(0, 10))
    return b"".join(lines)


_BINARY = (_flip, _flip, _number, _number, _noise, _zeros, _cut, _delete, _repeat, _move)
_TEXT = (_insert_word, _insert_word, _replace_word, _replace_word, _lines, _flip, _cut, _delete, _repeat)
