"""Reads schemas by the dialect that they name, as Python's jsonschema does, with nothing but the schema at hand.

A line in is {"schema": ..., "values": [...]}; a line out is {"error": ...} or {"accepted": [...]}.
"""

import json
import sys

import jsonschema
import referencing

for line in sys.stdin:
    question = json.loads(line)
    schema = question["schema"]
    try:
        validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        validator.check_schema(schema)
        reader = validator(schema, registry=referencing.Registry())
        answer = {"accepted": [reader.is_valid(value) for value in question["values"]]}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:500]}
    print(json.dumps(answer), flush=True)
