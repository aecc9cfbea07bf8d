"""The Textual front end: the only layer that paints.

Two of Textual's settings are read from the environment when it is first imported; the user's
own values win. A lone ESC byte is a key after 25 ms (Textual: 100), and what a frame changed is
painted within 4 ms (Textual: 17): our own frame already keeps to 60 a second.
"""

from __future__ import annotations

import os

os.environ.setdefault("ESCDELAY", "25")
os.environ.setdefault("TEXTUAL_FPS", "240")
