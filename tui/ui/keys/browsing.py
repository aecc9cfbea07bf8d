"""Keys of the file tree, besides the arrows and the letters that filter it."""

from __future__ import annotations

from tui.ui.keys.key import Key

BROWSING: tuple[Key, ...] = (
    Key("open_row", ("enter",), "files", "Open the file; open or close the folder", "open"),
    Key(
        "open_beside",
        ("alt+enter",),
        "files",
        "Open the file in the other one of two editors",
        "beside",
        short="open it beside",
    ),
    Key(
        "show_all",
        ("alt+i",),
        "files",
        "Show what is hidden or ignored too, or no longer",
        "all files",
        short="hidden files too",
    ),
    Key("leave", ("tab", "shift+tab"), "files", "Back to the editor", "editor"),
)
