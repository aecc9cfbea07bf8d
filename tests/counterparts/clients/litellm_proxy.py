"""duetto as the client of a server that nobody here wrote: LiteLLM's Responses WebSocket.

    litellm_proxy.py VENV [ignored ...]

VENV holds ``litellm[proxy]``. Its upstream is ``servers/fakeup.py``, which knows a few words.
Prints one line a check; `run` looks for them.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SERVERS = Path(__file__).resolve().parents[1] / "servers"
ROOT = Path(__file__).resolve().parents[3]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(url, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
    raise SystemExit(f"{url} did not answer within {seconds} s")


def exec_command(port, model, prompt):
    url = f"ws://127.0.0.1:{port}/v1/responses"
    flags = ["--endpoint", url, "--key-env", "LITELLM_KEY", "--fast", model, "--deep", model]
    return [sys.executable, "-m", "tui.cli", "exec", *flags, prompt]


def turn(port, model, prompt, env):
    done = subprocess.run(
        exec_command(port, model, prompt), env=env, capture_output=True, text=True, timeout=60
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def interrupted(port, model, env):
    """LiteLLM is silent on response.interrupt, so the socket is dropped after a second."""
    child = subprocess.Popen(
        exec_command(port, model, "SLOW story"),
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    child.stdout.read(8)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=20)
    return child.returncode


def checks(port, env):
    for model in ("managed-model", "chat-model"):
        print(model, "plain", *turn(port, model, "hello", env))
        print(model, "tool", *turn(port, model, "SHELL please", env))
        print(model, "interrupted", interrupted(port, model, env))
    print("bad key", *turn(port, "managed-model", "hello", {**env, "LITELLM_KEY": "sk-wrong"}))


def main():
    folder, upstream, port = Path(sys.argv[1]), free_port(), free_port()
    home = tempfile.mkdtemp()
    env = {
        **os.environ,
        "HOME": home, "DUETTO_HOME": home, "PYTHONPATH": str(ROOT), "LITELLM_KEY": "sk-litellm",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1,localhost",
        "FAKE_UPSTREAM": f"http://127.0.0.1:{upstream}/v1",
    }
    config = ["--config", str(SERVERS / "litellm.yaml"), "--host", "127.0.0.1"]
    servers = [
        [folder / "bin" / "python", SERVERS / "fakeup.py", str(upstream)],
        [folder / "bin" / "litellm", *config, "--port", str(port)],
    ]
    quiet = {"cwd": home, "env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(command, **quiet) for command in servers]
    try:
        wait_for(f"http://127.0.0.1:{upstream}/v1/models")
        wait_for(f"http://127.0.0.1:{port}/health/liveliness")
        checks(port, env)
    finally:
        for one in running:
            one.terminate()
        for one in running:
            one.wait(timeout=20)


if __name__ == "__main__":
    main()
