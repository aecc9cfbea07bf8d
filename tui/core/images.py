"""Images for a model: what the bytes of one say, what it costs in tokens, what a model takes.

Nothing is decoded: kind and size stand in the first bytes, and whether it is whole in the last.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

from msgspec import Struct

from tui.core.attachments import ATTACHED
from tui.core.files import amount, is_image_name
from tui.core.text.patterns import pattern

MOST_BYTES = 8 * 1024 * 1024
"""Larger files are not read."""
KINDS = "PNG, JPEG, GIF and WebP"
_NAMES = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WebP"}


class ImageSize(NamedTuple):
    """What the bytes of an image say."""

    kind: str
    """``png``, ``jpeg``, ``gif`` or ``webp``."""
    width: int
    height: int
    animated: bool = False


class Image(Struct, frozen=True):
    """One that is attached."""

    name: str
    kind: str
    width: int
    height: int
    size_bytes: int
    sha: str
    """SHA-256 of its bytes in hexadecimal digits, by which the store knows them."""
    animated: bool = False

    def __str__(self) -> str:
        """``shot.png 1280x720 · 84.0 kB``."""
        return f"{self.name} {self.width}x{self.height} · {amount(self.size_bytes)}"

    @property
    def told(self) -> str:
        """What is said of it beside it, to the model."""
        moves = ", animated" if self.animated else ""
        shape = f"{self.width}x{self.height} pixels{moves}, {amount(self.size_bytes)}"
        return f"{ATTACHED}@{self.name}\n{_NAMES[self.kind]} image, {shape}"

    @property
    def left_out(self) -> str:
        """What a model is told that does not get it."""
        return f"{self.told}. The image itself is left out."


class ImageRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a model counts the tokens of an image, and what it takes; 0: no limit is known."""

    long_side: int = 0
    """The image is made smaller until its longer side has at most so many pixels,"""
    short_side: int = 0
    """and then until its shorter side has."""
    base_tokens: int = 0
    tile: int = 0
    """Pixels of the side of a square; for each that is needed come"""
    tile_tokens: float = 1.0
    pixels_per_token: int = 0
    most_tokens: int = 0
    max_bytes: int = 0
    """Of one file."""
    max_total_bytes: int = 0
    """Of all in a request."""
    max_side: int = 0
    many: int = 0
    """Where a request has more images than that, none of them has"""
    many_side: int = 0
    """more pixels a side."""
    max_count: int = 0
    """In a request."""
    kinds: tuple[str, ...] = ("png", "jpeg", "gif", "webp")
    animated: bool = True
    """Whether those that move are taken."""

    def tokens(self, width: int, height: int) -> int:
        """About how many an image of so many pixels has."""
        for most, side in ((self.long_side, max), (self.short_side, min)):
            if most and side(width, height) > most:
                scale = most / side(width, height)
                width, height = max(round(width * scale), 1), max(round(height * scale), 1)
        count = float(self.base_tokens)
        if self.tile:
            count += ceil(width / self.tile) * ceil(height / self.tile) * self.tile_tokens
        if self.pixels_per_token:
            count += width * height / self.pixels_per_token
        return ceil(min(count, self.most_tokens) if self.most_tokens else count)

    def refusal(self, image: Image, model: str) -> str:
        """Why a model does not take an image, and what to do; empty: it does."""
        if image.kind not in self.kinds:
            taken = ", ".join(_NAMES[kind] for kind in self.kinds if kind in _NAMES)
            return f"{model} takes {taken}, and {image.name} is {_NAMES[image.kind]}: convert it"
        if image.animated and not self.animated:
            return f"{model} takes no animated images, and {image.name} is one: send one frame"
        if self.max_bytes and image.size_bytes > self.max_bytes:
            taken = f"{model} takes images of at most {amount(self.max_bytes)}"
            return f"{taken}, and {image.name} has {amount(image.size_bytes)}: {self._smaller}"
        if self.max_side and max(image.width, image.height) > self.max_side:
            taken = f"{model} takes images of at most {self.max_side:,} pixels a side"
            shape = f"{image.width:,}x{image.height:,}"
            return f"{taken}, and {image.name} has {shape}: {self._smaller}"
        return ""

    @property
    def _smaller(self) -> str:
        """What to do, with the size behind which nothing more of it is seen."""
        seen = f", it sees no more than {self.long_side:,} pixels a side" if self.long_side else ""
        return f"make it smaller{seen}"

    def refusal_of_all(self, images: Iterable[Image], model: str) -> str:
        """The same of all that a request would hold."""
        every, step = [*images], "leave one out, or begin with /clear"
        total = sum(image.size_bytes for image in every)
        if self.max_count and len(every) > self.max_count:
            taken = f"{model} takes at most {self.max_count} images in a request"
            return f"{taken}, and this one would have {len(every)}: {step}"
        sides = {image.name: max(image.width, image.height) for image in every}
        wide = next((one for one, side in sides.items() if side > self.many_side), "")
        if self.many and len(every) > self.many and wide:
            taken = f"{model} takes more than {self.many} images only of {self.many_side:,} pixels"
            return f"{taken} a side, and {wide} has {sides[wide]:,}: make it smaller, or {step}"
        if self.max_total_bytes and total > self.max_total_bytes:
            taken = f"{model} takes at most {amount(self.max_total_bytes)} of images in a request"
            return f"{taken}, and this one would have {amount(total)}: {step}"
        return ""


UNKNOWN = ImageRules(tile=32, most_tokens=1536, max_total_bytes=11_000_000)
"""Of a model of which nothing is said. The bytes in base64 fit a message of 16 MiB."""


def size_of_image(data: bytes) -> ImageSize | None:
    """Kind and size of an image; None: it is none of the four kinds. Raises ValueError: broken."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        found = _png(data)
    elif data.startswith(b"\xff\xd8\xff"):
        found = _jpeg(data)
    elif data.startswith((b"GIF87a", b"GIF89a")):
        found = _gif(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = _webp(data)
    else:
        return None
    if found is None or found.width < 1 or found.height < 1:
        raise ValueError("it is broken, or only a part of it is there")
    return found


def _png(data: bytes) -> ImageSize | None:
    at, animated = 8, False
    while at + 12 <= len(data):
        kind = data[at + 4 : at + 8]
        animated |= kind == b"acTL"
        at += 12 + int.from_bytes(data[at : at + 4], "big")
        if kind == b"IEND" and data[12:16] == b"IHDR":
            width, height = (int.from_bytes(data[n : n + 4], "big") for n in (16, 20))
            return ImageSize("png", width, height, animated)
    return None


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that say the size."""
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})


def _jpeg(data: bytes) -> ImageSize | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = (int.from_bytes(data[n : n + 2], "big") for n in (at + 5, at + 7))
            return ImageSize("jpeg", width, height) if data.rfind(b"\xff\xd9", at) > 0 else None
        if marker == 0xFF:
            at += 1
        else:
            length = int.from_bytes(data[at + 2 : at + 4], "big")
            at += 2 + (0 if marker in _ALONE else length)
    return None


def _gif(data: bytes) -> ImageSize | None:
    width, height = (int.from_bytes(data[n : n + 2], "little") for n in (6, 8))
    at, frames = 13 + _palette(data[10:11]), 0
    while at < len(data) and data[at] in b"\x21\x2c":
        if data[at] == 0x2C:
            frames += 1
            at += 11 + _palette(data[at + 9 : at + 10])
        else:
            at += 2
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return ImageSize("gif", width, height, frames > 1) if frames and at < len(data) else None


def _palette(flags: bytes) -> int:
    """Bytes of the table of colours behind some flags."""
    return 3 << (flags[0] & 7) + 1 if flags and flags[0] & 0x80 else 0


def _webp(data: bytes) -> ImageSize | None:
    if len(data) < 30 or int.from_bytes(data[4:8], "little") + 8 > len(data) + 1:
        return None
    match data[12:16]:
        case b"VP8 ":
            sides = [int.from_bytes(data[n : n + 2], "little") & 0x3FFF for n in (26, 28)]
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            sides = [(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1]
        case b"VP8X":
            sides = [int.from_bytes(data[n : n + 3], "little") + 1 for n in (24, 27)]
        case _:
            return None
    animated = data[12:16] == b"VP8X" and bool(data[20] & 2)
    return ImageSize("webp", sides[0], sides[1], animated)


def why_no_image(path: str, data: bytes) -> str:
    """What is wrong with a file that is named as an image and is none."""
    if not data:
        return f"{path} is empty"
    taken = path.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp"))
    if (is_image_name(path) and not taken) or data[4:8] == b"ftyp" or data[:2] == b"BM":
        return f"{path} is of a kind that models do not take: convert it to PNG or JPEG"
    return f"{path} is not an image: models take {KINDS}"


def image_item(image: Image, data: bytes) -> dict[str, object]:
    """The message of the user that brings an image."""
    return _item(image, f"data:image/{image.kind};base64,{b64encode(data).decode()}")


def without_data(image: Image) -> dict[str, object]:
    """The item of an image as the store keeps it, beside the bytes."""
    return _item(image, "")


def _item(image: Image, url: str) -> dict[str, object]:
    parts = [
        {"type": "input_text", "text": image.told},
        {"type": "input_image", "image_url": url, "detail": "auto"},
    ]
    return {"type": "message", "role": "user", "content": parts}


def data_of(item: Mapping[str, object]) -> bytes:
    """The bytes of the image in an item; empty: it has none. Raises ValueError: they are none."""
    content = item.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(url := part.get("image_url"), str):
            return b64decode(url.partition(",")[2])
    return b""


_NAMED = pattern(r"@([^\n]*)\n")


def image_of(item: Mapping[str, object], sha: str, data: bytes) -> Image | None:
    """The image of a stored item; None: the bytes are not its."""
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content else None
    named = _NAMED.search(str(first.get("text"))) if isinstance(first, dict) else None
    try:
        found = size_of_image(data)
    except ValueError:
        return None
    if named is None or found is None:
        return None
    return Image(named[1], found.kind, found.width, found.height, len(data), sha, found.animated)


_BLIND = pattern(
    r"(?i)image_?s?_not_supported|not a multimodal model|at most 0 image|content must be a string"
    r"|support(?:s|ing)? image input|image(?:_url)?s?(?: input| content)?s? (?:is|are) "
    r"(?:not (?:supported|enabled|allowed)|only supported)|unknown variant `image_url`"
    r"|(?:not|n't) (?:support|accept|take|have)[a-z]* (?:images?\b|vision|image input)"
    r"|missing data required for image|takes text only"
)
_ONE = pattern(r"(?i)image (?:format|type|size)|exceeds|too (?:large|big|many)|dimension|corrupt")
"""The image is wrong, not the model."""


def is_blind(code: str, message: str) -> bool:
    """Whether a refusal says that the model takes no images."""
    said = f"{code} {message}"
    return _BLIND.search(said) is not None and _ONE.search(message) is None
