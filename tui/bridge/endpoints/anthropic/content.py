"""Parts of messages and of tools' outputs as content blocks: text and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tui.bridge.endpoints.base import Refused
from tui.core.wire.json_reading import mended_json

Block = dict[str, Any]
_TEXTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})
_IMAGES = frozenset({"input_image", "image_url", "image"})
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+-]+/[\w.+-]+)?(?P<more>(?:;[^,;]*)*),", re.IGNORECASE)


def text_block(text: str) -> Block | None:
    """A block of text; None: a text that says nothing is refused there."""
    return {"type": "text", "text": text} if text.strip() else None


def blocks_of(content: object, *, images: bool | None) -> list[Block]:
    """The blocks of a message's or of an output's content.

    Raises Refused: there is something in it that the model cannot take.
    """
    return [block for block in _blocks(content, images) if block is not None]


def text_of(content: object) -> str:
    """The text of a content that may hold nothing else."""
    return "\n\n".join(block["text"] for block in blocks_of(content, images=False))


def told_as_json(value: object) -> str:
    """A value that is no content, as text."""
    return msgspec.json.encode(mended_json(value)).decode()


def _blocks(content: object, images: bool | None) -> Iterator[Block | None]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield text_block(part)
        elif isinstance(part, Mapping):
            kind = str(part.get("type"))
            if kind in _TEXTS:
                yield text_block(str(part.get("refusal" if kind == "refusal" else "text") or ""))
            elif kind in _IMAGES:
                yield _image(part, images)
            else:
                raise _unusable(f"takes text and pictures, no {_word(kind)}")


def _image(part: Mapping[str, Any], images: bool | None) -> Block:
    if images is False:
        raise Refused(
            400, "images_not_supported",
            "This model takes text only: leave the pictures out, or choose a model that sees.",
            param="input",
        )  # fmt: skip
    url = part.get("image_url")
    url = url.get("url") if isinstance(url, Mapping) else url
    if not isinstance(url, str) or not url:
        raise _unusable("takes pictures as data or as a web address, not by a file's id")
    if url[:5].lower() != "data:":
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = _DATA_URL.match(url)
    if found is None or "base64" not in found["more"].lower():
        raise _unusable("takes pictures as base64: this data: address is none")
    media = (found["media"] or "").lower().replace("image/jpg", "image/jpeg")
    if media not in _MEDIA:
        raise _unusable(f"takes JPEG, PNG, GIF and WebP pictures, no {media or 'other data'}")
    data = url[found.end() :]
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}


def _unusable(words: str) -> Refused:
    return Refused(400, "unsupported_content", f"This endpoint {words}.", param="input")


def _word(kind: str) -> str:
    return "documents: paste their text" if kind in ("input_file", "document") else f"{kind!r}"
