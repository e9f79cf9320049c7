"""The `atoll` command of the wheel: `atoll run -- program`, or `python3 -m atoll run -- program`."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Becomes the command, so that exit code, signals and streams are its own."""
    command = pathlib.Path(__file__).resolve().parent / "bin" / "atoll"
    if not command.exists():
        sys.exit(f"atoll: this module is not from a wheel, which has the command ({command})")
    os.execv(command, [str(command), *sys.argv[1:]])


if __name__ == "__main__":
    main()
