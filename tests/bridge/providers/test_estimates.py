"""About how many tokens a request has, and what it costs to say so."""

from __future__ import annotations

from tests.bridge.providers.test_windows import said
from tui.bridge.endpoints.base import Asked
from tui.bridge.providers.context_window import estimated_tokens


def test_what_is_counted() -> None:
    assert estimated_tokens(said(4000)) == 1000  # its role and kind are no text
    wide = Asked("m", {}, [{"role": "user", "content": "漢" * 1000}])
    assert estimated_tokens(wide) == 1000
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1_000_000}
    assert estimated_tokens(Asked("m", {}, [{"role": "user", "content": [image]}])) < 200
    sealed = {"type": "reasoning", "encrypted_content": "A" * 100_000, "summary": []}
    assert estimated_tokens(Asked("m", {}, [sealed])) == 0
    tools = [{"type": "function", "name": "f", "description": "d" * 4000, "parameters": {}}]
    whole = Asked("m", {"instructions": "i" * 4000, "tools": tools}, [])
    assert 2000 <= estimated_tokens(whole) < 2100
