"""``duetto exec`` with LiteLLM as the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

from checks import scenario, want
from litellm_proxy import KEY, ROOT, Proxy

MODELS = ("managed-model", "chat-model")


def command(proxy: Proxy, model: str, prompt: str) -> list[str]:
    flags = ["--endpoint", proxy.url, "--key-env", "LITELLM_KEY", "--fast", model, "--deep", model]
    return [sys.executable, "-m", "tui.cli", "exec", *flags, prompt]


def environment(home: str, key: str = KEY) -> dict[str, str]:
    return {**os.environ, "DUETTO_HOME": home, "PYTHONPATH": str(ROOT), "LITELLM_KEY": key}


def turn(proxy: Proxy, model: str, prompt: str, key: str = KEY) -> tuple[int, str]:
    """One turn; exit status and output."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        done = subprocess.run(
            command(proxy, model, prompt), env=environment(home, key), cwd=home,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def interrupted(proxy: Proxy, model: str) -> int | None:
    """Ctrl+C while it streams: LiteLLM is silent, so the socket is dropped after a second."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        child = subprocess.Popen(
            command(proxy, model, "SLOW story"), env=environment(home), cwd=home,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert child.stdout is not None
        child.stdout.read(8)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
        return child.returncode


def play(proxy: Proxy) -> None:
    """All that ``duetto exec`` shows."""
    words = {"managed-model": "Upstream responses", "chat-model": "Upstream says hello"}
    for model in MODELS:
        with scenario(f"exec {model}: a turn"):
            status, text = turn(proxy, model, "hello")
            want(status == 0 and words[model] in text, f"exit {status}: {text}")
        with scenario(f"exec {model}: Ctrl+C"):
            want(interrupted(proxy, model) == 130, "the exit status is not 130")
    with scenario("exec: a wrong key (403)"):
        status, text = turn(proxy, "managed-model", "hello", "sk-wrong")
        want(status == 3 and "refused the key" in text, f"exit {status}: {text}")
        want("sk-wrong" not in text, "the key was printed")
    with scenario("exec: an unknown model (error without a code)"):
        status, text = turn(proxy, "no-such-model", "hello")
        want(status == 1 and "no-such-model" in text, f"exit {status}: {text}")
        want("Traceback" not in text, text)


def play_without_upstream(proxy: Proxy) -> None:
    """Its upstream is gone: the last thing that can be played."""
    proxy.upstream.terminate()
    proxy.upstream.wait(10)
    with scenario("exec: the upstream is down (an error without status and code)"):
        status, text = turn(proxy, "managed-model", "hello")
        want(status == 3, f"exit {status}: {text}")
        want("Traceback" not in text and text, text)
