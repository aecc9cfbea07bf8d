"""Where a provider is asked to keep what it has read: long conversations are read once.

At most four places may be marked. One is the end of the system prompt (tools are before it), the
others the ends of the last three user messages: the last one is written for the next request, and
the one before it is where the previous request has written. From a mark the provider looks back
over no more than 20 blocks, so that the end alone would miss behind a turn of many calls.
"""

from __future__ import annotations

from typing import Any

from tui.bridge.endpoints.anthropic.options import Options

_MESSAGES = 3


def mark(body: dict[str, Any], options: Options) -> None:
    """Mark a request's body, as the options ``cache`` and ``cache_ttl`` say."""
    if not options.cache:
        return
    control: dict[str, Any] = {"type": "ephemeral"}
    if options.cache_ttl:
        control["ttl"] = options.cache_ttl
    head = body.get("system") or body.get("tools")
    if head:
        head[-1] = {**head[-1], "cache_control": control}
    ends = [message["content"] for message in body["messages"] if message["role"] == "user"]
    for content in ends[-_MESSAGES:]:
        content[-1] = {**content[-1], "cache_control": control}
