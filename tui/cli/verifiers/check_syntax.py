"""Says which of some files cannot be read: Python, JSON, TOML. Imports nothing of ours.

It is run by the project's own Python, which may be an older one; nothing of the files is run.
"""

import json
import sys
import warnings

_LENIENT = ("tsconfig", "jsconfig", ".vscode/", ".devcontainer", ".eslintrc", "composer", "deno")
"""Parts of the names of JSON files that may have comments."""


def fault(path: str, data: bytes) -> tuple[int, str] | None:
    """Line and words of what is wrong in a file; None: nothing is."""
    try:
        if path.endswith((".py", ".pyi")):
            compile(data, path, "exec", dont_inherit=True)
        elif path.endswith(".json"):
            if not any(part in path for part in _LENIENT):
                json.loads(data.decode("utf-8-sig"))
        elif path.endswith(".toml"):
            import tomllib

            tomllib.loads(data.decode("utf-8"))
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except (ImportError, RecursionError, MemoryError):
        return None
    except ValueError as error:
        words = str(error)
        line = words.partition("at line ")[2].partition(",")[0]
        return int(line) if line.isdigit() else 1, words
    return None


def main(paths: list[str]) -> int:
    """Print a line for each file that is broken."""
    warnings.simplefilter("ignore")
    broken = 0
    for path in paths:
        try:
            with open(path, "rb") as opened:
                found = fault(path, opened.read())
        except OSError:
            continue
        if found is not None:
            broken = 1
            words = " ".join(found[1].split())
            print(f"{path}:{found[0]}: {words}")
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
