"""Small images of every kind, made here: no file of pixels is stored."""

from __future__ import annotations

import struct
import zlib

from tui.core.files import FileRead


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 1280, height: int = 720, *, animated: bool = False, colour: int = 0) -> bytes:
    """All of one grey; it can be shown."""
    rows = (b"\0" + bytes([colour]) * width) * height
    moves = _chunk(b"acTL", struct.pack(">II", 2, 0)) if animated else b""
    return b"".join([
        b"\x89PNG\r\n\x1a\n",
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        moves,
        _chunk(b"IDAT", zlib.compress(rows)),
        _chunk(b"IEND", b""),
    ])  # fmt: skip


def jpeg(width: int = 640, height: int = 480) -> bytes:
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    app = b"\xff\xe1" + struct.pack(">H", 6) + b"Exif"
    return b"\xff\xd8" + app + b"\xff\xc4" + struct.pack(">H", 3) + b"\0" + frame + b"\xff\xd9"


def gif(width: int = 32, height: int = 16, *, frames: int = 1) -> bytes:
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    control = b"\x21\xf9\x04" + bytes(4) + b"\0"
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\0"
    return head + (control + frame) * frames + b"\x3b"


def webp(
    width: int = 300, height: int = 200, *, form: bytes = b"VP8X", moves: bool = False
) -> bytes:
    if form == b"VP8 ":
        data = bytes(6) + struct.pack("<HH", width, height) + bytes(4)
    elif form == b"VP8L":
        data = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(9)
    else:
        sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        data = bytes([2 * moves, 0, 0, 0]) + sides + bytes(4)
    body = b"WEBP" + form + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


class MemoryPictures:
    """See `engine.ports.Pictures`."""

    def __init__(self, **files: bytes) -> None:
        """By name, below ``/elsewhere``."""
        self.files = {f"/elsewhere/{name}": data for name, data in files.items()}
        self.clipboard: bytes | str = "there is no image on the clipboard"

    def is_there(self, path: str) -> bool:
        return path in self.files

    def read(self, path: str) -> FileRead:
        return FileRead(self.files.get(path))

    def copied(self) -> bytes | str:
        return self.clipboard
