"""Patches inside a model's text: what is no patch is prose for the transcript."""

from __future__ import annotations

from tui.core.edit_stream.apply_patch import PatchParser


class ProsePatches(PatchParser):
    """Reads assistant text: any number of patches, or none; fences and heredocs are dropped."""

    required = False
