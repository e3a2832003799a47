"""The tool of the recorders: `recorder RECORD` writes down what it is called with."""

import json
import sys

INPUT = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 10}}, "required": ["n"]}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def record(name, arguments):
    if name != "ranged":
        raise ValueError("no such tool")
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps(arguments) + "\n")
    return {"n": 1}
