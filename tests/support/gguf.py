"""The beginning of a GGUF file, as a test wants it."""

from __future__ import annotations

import struct
from pathlib import Path

_NUMBER, _STRING, _ARRAY = 4, 8, 9
LLAMA: dict[str, str | int | list[str]] = {
    "general.architecture": "llama",
    "llama.context_length": 2048,
    "llama.block_count": 2,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "ü"],
}


def gguf(
    path: Path, said: dict[str, str | int | list[str]] | None = None, *, tensor_bytes: int = 4096
) -> Path:
    """Write one with a tensor of F32 of this size."""
    facts = LLAMA if said is None else said
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(facts))
    for key, value in facts.items():
        data += _text(key)
        if isinstance(value, int):
            data += struct.pack("<II", _NUMBER, value)
        elif isinstance(value, str):
            data += struct.pack("<I", _STRING) + _text(value)
        else:
            data += struct.pack("<IIQ", _ARRAY, _STRING, len(value)) + b"".join(map(_text, value))
    data += _text("blk.0") + struct.pack("<IQIQ", 1, tensor_bytes // 4, 0, 0)
    data += bytes(-len(data) % 32) + bytes(tensor_bytes)
    path.write_bytes(data)
    return path


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded
