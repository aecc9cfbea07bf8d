"""OpenAI's agents: ``apply_diff`` over JSON lines; runs in their environment."""

import json
import sys

from agents.apply_diff import apply_diff

for line in sys.stdin:
    said = json.loads(line)
    body = said["bare"].split("*** Update File: f.py\n", 1)[1].removesuffix("*** End Patch\n")
    try:
        after = apply_diff(said["before"], body)
    except ValueError:
        after = None
    print(json.dumps(after), flush=True)
