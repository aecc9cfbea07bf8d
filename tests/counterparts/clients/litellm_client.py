"""duetto as the client of LiteLLM's proxy: VENV. One line a scenario (see checks.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import litellm_exec
from checks import finish
from litellm_proxy import proxy

with proxy(Path(sys.argv[1])) as running:
    litellm_exec.play(running)
finish()
