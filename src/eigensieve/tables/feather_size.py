"""How large a compressed Feather file is when it is unpacked, told without unpacking it.

A Feather file is a stream of Arrow messages. Each compressed buffer begins with its unpacked size. The places of the
buffers stand in the header of the message, a flatbuffer ("Arrow Columnar Format", "Serialization and IPC").
"""

import struct
from typing import Any

_FILE_START = 8
_BATCH, _DICTIONARY = 3, 2  # kinds of messages that hold data


def unpacked_size(content: Any, pa: Any) -> int:
    """Bytes of all buffers, unpacked. Damaged files raise exceptions of any kind."""
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(pa.py_buffer(content).slice(_FILE_START)))
    return sum(_size(memoryview(message.metadata), memoryview(message.body or b"")) for message in reader)


def _size(header: memoryview, body: memoryview) -> int:
    message = _follow(header, 0)
    kind_place, table_place = _field(header, message, 1), _field(header, message, 2)
    kind = header[kind_place] if kind_place else 0
    if kind not in (_BATCH, _DICTIONARY) or not table_place:
        return 0
    batch = _follow(header, table_place)
    if kind == _DICTIONARY:
        batch = _follow(header, _field(header, batch, 1))
    places, compressed = _field(header, batch, 2), bool(_field(header, batch, 3))
    if not places or not compressed:
        return len(body)
    vector = _follow(header, places)
    (count,) = struct.unpack_from("<I", header, vector)
    total = 0
    for number in range(count):
        first, length = struct.unpack_from("<qq", header, vector + 4 + 16 * number)
        if length >= 8:
            (unpacked,) = struct.unpack_from("<q", body, first)
            total += length if unpacked < 0 else unpacked  # -1 stands for a buffer that is not compressed
    return total


def _follow(data: memoryview, place: int) -> int:
    """Where the offset at a place leads."""
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0 where it is absent."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    (size,) = struct.unpack_from("<H", data, layout)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, layout + 4 + 2 * number)
    return table + int(offset) if offset else 0
