"""duetto as the client of LiteLLM's proxy: VENV. One line a scenario (see checks.py)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import litellm_exec
import litellm_wire
from checks import finish
from litellm_proxy import proxy

with proxy(Path(sys.argv[1])) as running:
    litellm_exec.play(running)
    asyncio.run(litellm_wire.play(running))
    litellm_exec.play_without_upstream(running)
finish()
