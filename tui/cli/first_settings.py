"""The ``config.toml`` of a first run: its text, and writing it where none is yet."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tui.errors import DuettoError
from tui.settings import parse

_HEAD = """\
# Written by duetto's first start; docs/settings.md says what else can stand here
schema = 1
"""


def text_of(endpoint: str, fast: str, deep: str) -> str:
    """Settings with these two models; the endpoint is a provider that duetto knows."""
    tables = "".join(
        f"\n[models.{role}]\nname = {quoted(model)}\nendpoint = {quoted(endpoint)}\n"
        for role, model in (("fast", fast), ("deep", deep))
    )
    return _HEAD + tables


def quoted(text: str) -> str:
    """A string as TOML writes it: JSON's way is one of TOML's."""
    return json.dumps(text, ensure_ascii=False)


def write(file: Path, text: str) -> str:
    """Write it, never over another one or through a link; what is wrong, empty if it is written.

    The text is checked first, as it will be read.
    """
    if os.path.lexists(file):
        return f"{file} is there already: it was left as it is."
    try:
        parse(text, str(file))
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text)
        except OSError:
            file.unlink(missing_ok=True)  # half of it would be wrong settings
            raise
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}."
    except DuettoError as error:
        return str(error)
    return ""
