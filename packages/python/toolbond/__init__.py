"""The package of the command `toolbond`, which also runs as `python -m toolbond`."""
