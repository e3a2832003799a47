"""Runs the program that was installed with this package."""

import os
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path


def program() -> Path:
    """Where it is, as the installer recorded it, or beside the package (`pip install --target`)."""
    name = "toolbond.exe" if os.name == "nt" else "toolbond"
    recorded = [file.locate() for file in files("toolbond") or [] if file.name == name]
    for path in [*recorded, Path(__file__).parent.parent / "bin" / name]:
        if Path(path).is_file():
            return Path(path).resolve()
    print(f"error: the program {name} is not where it was installed; install again", file=sys.stderr)
    sys.exit(2)


if os.name == "nt":
    sys.exit(subprocess.run([program(), *sys.argv[1:]]).returncode)
path = program()
os.execv(path, [path, *sys.argv[1:]])
