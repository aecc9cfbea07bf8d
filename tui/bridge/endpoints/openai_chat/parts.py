"""What a message holds: Responses parts as the parts of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.openai_chat.dialect import Dialect
from tui.core.wire import json_writing

Part = dict[str, Any]
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_DETAILS = ("auto", "low", "high")


class Parts:
    """The contents of one conversation."""

    def __init__(self, asked: Asked, dialect: Dialect) -> None:
        self._asked = asked
        self._files = dialect.files

    def assistant(self, content: object) -> str:
        """What an assistant's message says, its refusal among it."""
        return joined([part for part in self.said(content) if part["type"] == "text"])

    def said(self, content: object) -> list[Part]:
        """The parts of a message or of a tool's output; empty texts are left out.

        Raises Refused: the model cannot be told such a part.
        """
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        if isinstance(content, Mapping):
            return [{"type": "text", "text": json_writing.request(dict(content))}]
        listed = content if isinstance(content, list) else []
        found = [self._part(part) for part in listed if isinstance(part, dict)]
        return [part for part in found if part is not None]

    def _part(self, part: Mapping[str, Any]) -> Part | None:
        kind = str(part.get("type"))
        if kind in _TEXTS:
            text = part.get(_TEXTS[kind])
            return {"type": "text", "text": text} if isinstance(text, str) and text else None
        if kind in ("input_image", "image_url"):
            return self._image(part)
        if kind in ("input_file", "file"):
            return self._file(part)
        if kind == "input_audio" and isinstance(part.get("input_audio"), dict):
            return dict(part)
        if kind in ("reasoning_text", "summary_text"):
            return None
        # the output of a shell and the like: whatever it is, it is told as it is
        return {"type": "text", "text": json_writing.request(dict(part))}

    def _image(self, part: Mapping[str, Any]) -> Part:
        if self._asked.facts.images is False:
            model = self._asked.model
            words = f"The model {model} takes text only: remove the image, or use another model."
            raise Refused(400, "image_not_supported", words, param="input")
        given = part.get("image_url")
        url = given.get("url") if isinstance(given, dict) else given
        if not isinstance(url, str) or not url.startswith(("data:", "http://", "https://")):
            words = "An image has to be given by a data: or https: URL; stored files are not known."
            raise Refused(400, "image_not_supported", words, param="input")
        image: Part = {"url": url}
        if part.get("detail") in _DETAILS[1:]:
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}

    def _file(self, part: Mapping[str, Any]) -> Part:
        told = {key: part[key] for key in ("file_data", "filename") if part.get(key)}
        if not self._files or "file_data" not in told:
            words = (
                f"The model {self._asked.model} cannot be given documents here: put the text of "
                "the document into the message."
            )
            raise Refused(400, "file_not_supported", words, param="input")
        return {"type": "file", "file": told}


def joined(content: Sequence[Part]) -> str:
    """The texts among some parts."""
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def content_of(content: Sequence[Part]) -> str | list[Part]:
    """The content of a message: text alone is a plain string, which every server takes."""
    plain = all(part["type"] == "text" for part in content)
    return joined(content) if plain else list(content)
