"""Runs one turn of the Codex CLI against a bridge: CODEX_BINARY BASE MODEL KEY."""
import os, subprocess, sys, tempfile
from pathlib import Path

binary, base, model, key = sys.argv[1:5]
CONFIG = f'''
model = "{model}"
model_provider = "bridge"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.bridge]
name = "bridge"
base_url = "{base}"
wire_api = "responses"
supports_websockets = true
experimental_bearer_token = "{key}"
[analytics]
enabled = false
[features]
daemon_auto_start = false
'''
# CODEX_HOME must not lie under TMPDIR, or Codex refuses to make its links.
with tempfile.TemporaryDirectory() as folder:
    home, work, scratch = (Path(folder) / name for name in ("home", "work", "tmp"))
    for path in (home, work, scratch):
        path.mkdir()
    (home / "config.toml").write_text(CONFIG)
    environment = {**os.environ, "CODEX_HOME": str(home), "TMPDIR": str(scratch)}
    command = [binary, "exec", "--skip-git-repo-check", "--json", "add a module that finds the tags in a note"]
    done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, timeout=90)
sys.exit(done.returncode)
