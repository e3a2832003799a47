"""What pre-commit installs for the hooks of this repository: the published package of the same version."""

import re
from pathlib import Path

from setuptools import setup

manifest = Path(__file__).with_name("Cargo.toml").read_text(encoding="utf-8")
version = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE).group(1)
setup(
    name="toolbond-hooks",
    version=version,
    packages=[],
    py_modules=[],
    install_requires=[f"toolbond=={version}"],
)
