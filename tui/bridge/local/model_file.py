"""What a GGUF file says of its model before it is loaded, and whether this machine can load it.

Which files there are: the user's, or those that installed packages hold.
"""

from __future__ import annotations

import math
import mmap
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from tui.bridge.endpoints.base import Refused

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_BLOCKS = {
    **{0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)},
    **{9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176)},
    **{14: (256, 210), 15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98)},
    **{19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1)},
    **{25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2)},
}
"""A tensor's type -> how many values are in a block, and its bytes."""
_MOST_ENTRIES = 4_000_000
_MOST_DIMENSIONS = 8
"""Of a tensor: no llama.cpp reads more than 4."""
_BESIDE_BYTES = 160 << 20
"""What the program and its work take beside the model and its cache."""


class ModelFile(Struct, frozen=True):
    """One file, as its header says."""

    path: Path
    architecture: str
    window: int
    """Tokens that it was trained for."""
    cache_bytes: int
    """Of one token's keys and values."""
    size_bytes: int

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.path.stem

    def needs_bytes(self, tokens: int) -> int:
        """Memory that it takes with so many tokens in its cache."""
        return self.size_bytes + tokens * self.cache_bytes + _BESIDE_BYTES


def read_model_file(path: Path) -> ModelFile:
    """Read a file's header. Raises Refused: it is no model, or not whole."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise _wrong(f"{path} is not a file: set [endpoints.local] model")
        with path.open("rb") as opened:
            if os.fstat(opened.fileno()).st_size < 24:
                raise _wrong(f"{path} is not a GGUF file: name one that is")
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(path, data)
    except OSError as error:
        words = f"{path} cannot be read ({error.strerror}): set [endpoints.local] model"
        raise _wrong(words) from error
    except (struct.error, ValueError, OverflowError, IndexError) as error:
        raise _wrong(f"{path} is cut off in its header: download it again") from error


def _wrong(words: str) -> Refused:
    return Refused(404, "local_model_unusable", f"{words}.")


class _Header:
    """Reads one value behind the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.at = 4

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def text(self) -> str:
        length = self.number("Q")
        if length > len(self._data) - self.at:
            raise IndexError
        self.at += length
        return self._data[self.at - length : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """The next value; of an array only its length."""
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.number(_PLAIN[kind]) if kind in _PLAIN else self._unknown()
        inner, count = self.number("I"), self.number("Q")
        if inner in _PLAIN:
            self.at += struct.calcsize(_PLAIN[inner]) * count
        elif inner == _STRING and count <= _MOST_ENTRIES:
            for _ in range(count):
                self.at += 8 + int.from_bytes(self._data[self.at : self.at + 8], "little")
                if self.at > len(self._data):
                    raise IndexError
        else:
            self._unknown()
        return count

    def _unknown(self) -> None:
        raise struct.error


def _read(path: Path, data: mmap.mmap) -> ModelFile:
    if data[:4] != MAGIC:
        raise _wrong(f"{path} is not a GGUF file: name one that is")
    header = _Header(data)
    if (version := header.number("I")) not in _VERSIONS:
        raise _wrong(f"{path} is GGUF version {version}, which is not read: convert it anew")
    tensors, entries = header.number("Q"), header.number("Q")
    if max(tensors, entries) > _MOST_ENTRIES:
        raise struct.error
    said: dict[str, Any] = {}
    for _ in range(entries):
        key = header.text()
        said[key] = header.value(header.number("I"))
    end = _end_of(header, tensors, int(said.get("general.alignment", 32)) or 32)
    if end > len(data):
        missing = math.ceil((end - len(data)) / 1e6)
        raise _wrong(f"{path} is cut off, {missing:,} MB are missing: download it again")
    return _facts(path, said, len(data))


def _end_of(header: _Header, tensors: int, alignment: int) -> int:
    """Where the last tensor ends."""
    last = 0
    for _ in range(tensors):
        header.text()
        values, dimensions = 1, header.number("I")
        if dimensions > _MOST_DIMENSIONS:
            raise struct.error
        for _ in range(dimensions):
            values *= header.number("Q")
        per_block, size = _BLOCKS.get(header.number("I"), (1, 0))
        last = max(last, header.number("Q") + values // per_block * size)
    return -(-header.at // alignment) * alignment + last


def _facts(path: Path, said: dict[str, Any], size_bytes: int) -> ModelFile:
    architecture = str(said.get("general.architecture") or "")
    kind = said.get("general.type", "model")
    if not architecture or kind != "model" or f"{architecture}.context_length" not in said:
        what = architecture or "nothing known"
        raise _wrong(f"{path} is not a language model ({what}): name one that writes text")
    if said.get(f"{architecture}.pooling_type") or not said.get(
        f"{architecture}.attention.causal", True
    ):
        raise _wrong(f"{path} makes vectors of texts ({architecture}): name one that writes text")

    def number(name: str, other: int = 0) -> int:
        value = said.get(f"{architecture}.{name}", other)
        return value if isinstance(value, int) else other

    if (window := number("context_length", 2048)) < 1:
        words = f"{path} says that it was trained for {window} tokens: name another file"
        raise _wrong(words)
    heads = number("attention.head_count", 1) or 1
    width = number("embedding_length") // heads
    row = number("attention.key_length", width) + number("attention.value_length", width)
    cache = number("block_count") * number("attention.head_count_kv", heads) * row * 2
    return ModelFile(path, architecture, window, cache, size_bytes)


def check_machine(file: ModelFile, tokens: int, free: Callable[[], int | None]) -> None:
    """Raises Refused: this machine cannot run it, and nothing was tried."""
    if lacks_avx2():
        raise _wrong(
            "This machine's processor has no AVX2, which xllamacpp needs: use a model elsewhere"
        )
    needed, there = file.needs_bytes(tokens), free()
    if there is not None and needed > there:
        raise _wrong(
            f"{file.name} needs about {needed / 1e9:.1f} GB of memory and {there / 1e9:.1f} GB are "
            "free: close other programs, or set a smaller model"
        )


def lacks_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this is an x86-64 processor without it; where that is not known, it has it."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    try:
        text = cpuinfo.read_text("ascii", "replace")
    except OSError:
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "avx2")
    return "avx2" not in flags.split()


def free_bytes() -> int | None:
    """Memory that a new process may take; None: not known."""
    found: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text().strip()
        if most != "max":
            used = int((group / "memory.current").read_text())
            rows = (group / "memory.stat").read_text().splitlines()
            kept = sum(int(row.split()[1]) for row in rows if row.startswith("inactive_file "))
            found.append(int(most) - used + kept)
    except (OSError, ValueError, IndexError):
        pass
    return min(found, default=None)


def model_files(named: str) -> list[Path]:
    """The file that the settings name, else those of packages."""
    return [Path(named)] if named else list(_files_of_packages())


def model_names(named: str) -> list[str]:
    """What the models in these files are called."""
    return [path.stem for path in model_files(named)]


def _files_of_packages() -> Iterator[Path]:
    """The GGUF files that installed packages hold, smallest first."""
    found = {
        file
        for place in map(Path, filter(None, sys.path))
        if place.name in ("site-packages", "dist-packages")
        for pattern in ("*/*.gguf", "*/*/*.gguf")
        for file in place.glob(pattern)
    }
    yield from sorted(found, key=lambda file: (file.stat().st_size, file))
