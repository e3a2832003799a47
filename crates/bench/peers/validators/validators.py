"""Messages of Pydantic and jsonschema about the arguments of calls.

A line in is {"validator": ..., "schema": ..., "arguments": ...}; a line out is {"message": ...}, null as the message of
valid arguments, or {"error": ...} if the validator cannot read the schema.
"""

import json
import sys
from typing import Annotated, Any, Literal, Union

import jsonschema
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, create_model


class Models:
    """Pydantic models built from one JSON schema."""

    def __init__(self, root):
        self.root = root
        self.named = {}
        self.count = 0

    def type_of(self, schema, name="Value", depth=0):
        if schema is True or schema == {}:
            return Any
        if not isinstance(schema, dict) or depth > 24:
            raise ValueError("a schema that has no model")
        if "$ref" in schema:
            return self.referred(schema["$ref"], depth)
        if "allOf" in schema:
            return self.type_of(self.merged(schema), name, depth + 1)
        if "const" in schema:
            return self.literal([schema["const"]])
        if "enum" in schema:
            return self.literal(schema["enum"])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                if "properties" in schema:
                    break
                branches = [self.type_of(branch, name, depth + 1) for branch in schema[keyword]]
                union = Union[tuple(branches)]
                tag = schema.get("discriminator", {}).get("propertyName")
                return Annotated[union, Field(discriminator=tag)] if tag else union
        kind = schema.get("type")
        if isinstance(kind, list):
            return Union[tuple(self.typed(one, schema, name, depth) for one in kind)]
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else None
        return self.typed(kind, schema, name, depth)

    def typed(self, kind, schema, name, depth):
        limits = {}

        def limit(keyword, argument):
            if keyword in schema and not isinstance(schema[keyword], bool):
                limits[argument] = schema[keyword]

        if kind in ("integer", "number"):
            for keyword, argument in (
                ("minimum", "ge"),
                ("maximum", "le"),
                ("exclusiveMinimum", "gt"),
                ("exclusiveMaximum", "lt"),
                ("multipleOf", "multiple_of"),
            ):
                limit(keyword, argument)
            base = int if kind == "integer" else float
        elif kind == "string":
            limit("minLength", "min_length")
            limit("maxLength", "max_length")
            limit("pattern", "pattern")
            base = str
        elif kind == "array":
            limit("minItems", "min_length")
            limit("maxItems", "max_length")
            base = list[self.type_of(schema.get("items", True), name + "Item", depth + 1)]
        elif kind == "object":
            return self.object(schema, name, depth)
        else:
            return {"boolean": bool, "null": None, None: Any}[kind]
        return Annotated[base, Field(**limits)] if limits else base

    def object(self, schema, name, depth):
        others = schema.get("additionalProperties", True)
        if not schema.get("properties"):
            if others is False:
                return create_model(self.fresh(name), __config__=ConfigDict(extra="forbid"))
            if not schema.get("required"):
                return dict[str, self.type_of(others, name + "Value", depth + 1)]
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        fields = {}
        for index, member in enumerate([*properties, *(one for one in required if one not in properties)]):
            inner = properties.get(member, True)
            kind = self.type_of(inner, name + member.title().replace("_", ""), depth + 1)
            if member in required:
                fields[f"field_{index}"] = (kind, Field(alias=member))
            else:
                fields[f"field_{index}"] = (kind, Field(default=None, alias=member))
        extra = "forbid" if others is False else "allow"
        return create_model(self.fresh(name), __config__=ConfigDict(extra=extra), **fields)

    def fresh(self, name):
        self.count += 1
        name = "".join(letter for letter in name if letter.isalnum()) or "Model"
        return name if self.count == 1 else f"{name}{self.count}"

    def literal(self, values):
        scalars = [value for value in values if value is None or isinstance(value, (str, int, bool))]
        if len(scalars) != len(values):
            raise ValueError("an enum that has no Literal")
        return Literal[tuple(scalars)]

    def referred(self, reference, depth):
        if reference not in self.named:
            if not reference.startswith("#"):
                raise ValueError("a reference to another document")
            schema = self.root
            for token in reference[1:].split("/")[1:]:
                token = token.replace("~1", "/").replace("~0", "~")
                schema = schema[int(token) if isinstance(schema, list) else token]
            self.named[reference] = Any  # What refers to itself is not checked further.
            self.named[reference] = self.type_of(schema, reference.rsplit("/", 1)[-1], depth + 1)
        return self.named[reference]

    def merged(self, schema):
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            while "$ref" in part:
                resolved = self.root
                for token in part["$ref"][1:].split("/")[1:]:
                    resolved = resolved[token]
                part = resolved
            for key, value in part.items():
                if key == "properties":
                    merged[key] = {**merged.get(key, {}), **value}
                elif key == "required":
                    merged[key] = [*merged.get(key, []), *value]
                else:
                    merged[key] = value
        return merged


adapters = {}


def pydantic(schema, arguments):
    key = json.dumps(schema)
    if key not in adapters:
        models = Models(schema)
        adapters[key] = TypeAdapter(models.type_of(schema, schema.get("title", "arguments")))
    try:
        # Strict, because JSON Schema accepts no "10" for 10 either.
        adapters[key].validate_json(json.dumps(arguments), strict=True)
    except ValidationError as error:
        return str(error)
    return None


def python_jsonschema(schema, arguments):
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    lines = [f"{error.json_path}: {error.message}" for error in kind(schema).iter_errors(arguments)]
    return "\n".join(lines) or None


VALIDATORS = {"pydantic": pydantic, "jsonschema": python_jsonschema}

for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = {"message": VALIDATORS[question["validator"]](question["schema"], question["arguments"])}
    except Exception as error:  # Whatever the validator says about a schema is the answer.
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
