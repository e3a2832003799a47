"""Runs the schema converters that model APIs and agent frameworks publish for Python over tools, without a network.

Reads lines `{"id": N, "tool": {…}, "structured": …}` and writes, for each line and each
converter (or those that the line names in `converters`), one line `{"id": N, "converter": NAME, …}` with one of

- `schema`: the input schema that the converter makes, as JSON Schema (`null`: the tool is sent without parameters),
- `regex`: what `outlines` makes of it (`null` and its `length` when it is longer than a million characters),
- `error`: why there is none.

The SDK's client has nothing to convert: `schema` is then the input schema as it came. `structured` is the structured
content of the result that the client reads.
"""

import contextlib
import importlib
import io
import json
import logging
import os
import resource
import signal
import sys
import types
import warnings
from functools import partial
from pathlib import Path

SECONDS = 5
MEMORY = 1 << 30
# The converters keep Python's limit. Reading and writing deep schemas takes more.
RECURSION_LIMIT = sys.getrecursionlimit()
# Real tools make regular expressions of 160 MB.
LONGEST_REGEX = 1_000_000
STDOUT = sys.stdout
# `litellm` would fetch its list of models.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


class Timeout(BaseException):
    """A converter took too long. Not an `Exception`, so that no converter takes it for one of its own."""


class Refused(Exception):
    """A target that answers instead of raising."""


def json_schema(schema):
    """A Gemini API `Schema` as JSON Schema, so that a validator can judge values against it.

    Types are in upper case, `nullable` stands for a union with null, references and definitions lack their `$`, and
    numbers may be strings. An `enum` of strings on another type is left alone: that is what the API is sent.
    """
    if not isinstance(schema, dict):
        return schema
    names = {"ref": "$ref", "defs": "$defs"}
    made = {}
    for key, value in schema.items():
        key = names.get(key, key)
        if key == "type":
            made[key] = value.lower() if isinstance(value, str) else value
        elif key in ("properties", "$defs") and isinstance(value, dict):
            made[key] = {name: json_schema(child) for name, child in value.items()}
        elif key in ("items", "additionalProperties"):
            made[key] = json_schema(value)
        elif key == "anyOf" and isinstance(value, list):
            made[key] = [json_schema(child) for child in value]
        elif key[:3] in ("min", "max") and isinstance(value, str):
            made[key] = json.loads(value)
        else:
            made[key] = value
    if made.get("type") == "type_unspecified":
        del made["type"]
    return {"anyOf": [made, {"type": "null"}]} if made.pop("nullable", None) is True else made


def dumped(schema):
    """The JSON of a `google.genai.types.Schema`, or nothing where there is none."""
    return schema and json_schema(schema.model_dump(mode="json", by_alias=True, exclude_none=True))


def of_schema(module, name, then=lambda made: made):
    """A converter that is a function of the input schema."""

    def load():
        convert = getattr(importlib.import_module(module), name)
        return lambda tool: then(convert(tool["inputSchema"]))

    return load


def openai_py():
    from openai.lib._pydantic import _ensure_strict_json_schema

    return lambda tool: _ensure_strict_json_schema(tool["inputSchema"], path=(), root=tool["inputSchema"])


def pydantic_ai_openai():
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    return lambda tool: OpenAIJsonSchemaTransformer(tool["inputSchema"], strict=True).walk()


def pydantic_ai_openai_limits():
    from pydantic_ai.profiles.openai import _exceeds_strict_size_limits

    def count(tool):
        if _exceeds_strict_size_limits(tool["inputSchema"]):
            raise Refused("more nested objects or properties than strict mode allows")
        return tool["inputSchema"]

    return count


def pydantic_ai_bedrock():
    # The module imports the AWS SDK, of 100 MB, for the requests it can send.
    for name, members in {
        "boto3": [],
        "botocore": [],
        "botocore.client": ["BaseClient"],
        "botocore.config": ["Config"],
        "botocore.exceptions": ["NoRegionError"],
        "botocore.session": ["Session"],
        "botocore.tokens": ["FrozenAuthToken"],
    }.items():
        sys.modules[name] = types.ModuleType(name)
        for member in members:
            setattr(sys.modules[name], member, type(member, (Exception,), {}))
    from pydantic_ai.providers.bedrock import BedrockJsonSchemaTransformer

    return lambda tool: BedrockJsonSchemaTransformer(tool["inputSchema"], strict=True).walk()


def pydantic_ai_anthropic_limits():
    from pydantic_ai.models._anthropic_schema_limits import exceeded_limit

    def count(tool):
        if limit := exceeded_limit([tool["inputSchema"]], None):
            raise Refused(limit)
        return tool["inputSchema"]

    return count


def google_genai():
    from google.genai._mcp_utils import mcp_to_gemini_tool
    from mcp.types import Tool

    def convert(tool):
        [declaration] = mcp_to_gemini_tool(Tool.model_validate(tool)).function_declarations
        return dumped(declaration.parameters)

    return convert


def litellm_mistral():
    from litellm.llms.mistral.chat.transformation import MistralConfig

    def convert(tool):
        function = {"name": tool["name"], "description": tool.get("description"), "parameters": tool["inputSchema"]}
        [cleaned] = MistralConfig._clean_tool_schema_for_mistral([{"type": "function", "function": function}])
        return cleaned["function"]["parameters"]

    return convert


def llguidance():
    from llguidance import LLMatcher

    def convert(tool):
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(tool["inputSchema"]))
        failed, messages = LLMatcher.validate_grammar_with_warnings(grammar)
        if failed:
            raise Refused(messages[0])
        return tool["inputSchema"]

    return convert


def outlines():
    from outlines_core.json_schema import build_regex_from_schema

    def convert(tool):
        regex = build_regex_from_schema(json.dumps(tool["inputSchema"]))
        return {"regex": regex} if len(regex) <= LONGEST_REGEX else {"regex": None, "length": len(regex)}

    return convert


def python_sdk():
    import anyio
    from mcp import Client
    from mcp.shared.memory import create_client_server_memory_streams
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCResponse

    def answer(line, request):
        tool = line["tool"]
        if request.method == "server/discover":
            info = {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}}
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": info}
        if request.method == "tools/list":
            return {"tools": [tool], "ttlMs": 0, "cacheScope": "private"}
        return {"content": [{"type": "text", "text": "done"}], "structuredContent": line["structured"]}

    async def serve(line, streams):
        async for message in streams[0]:
            if (identity := getattr(message.message, "id", None)) is not None:
                result = {"resultType": "complete", **answer(line, message.message)}
                response = JSONRPCResponse(jsonrpc="2.0", id=identity, result=result)
                await streams[1].send(SessionMessage(response))

    @contextlib.asynccontextmanager
    async def scripted(line):
        async with create_client_server_memory_streams() as (client, server), anyio.create_task_group() as group:
            group.start_soon(serve, line, server)
            try:
                yield client
            finally:
                group.cancel_scope.cancel()

    async def use(line):
        tool = line["tool"]
        step = "connect"
        try:
            async with Client(scripted(line), mode="2026-07-28") as client:
                step = "list"
                names = [listed.name for listed in (await client.list_tools()).tools]
                if tool["name"] not in names:
                    raise Refused("the client leaves the tool out")
                if "outputSchema" in tool and "structured" in line:
                    step = "call"
                    await client.call_tool(tool["name"], {})
        except (Exception, BaseExceptionGroup) as error:
            raise Refused(f"{step}: {described(error)}") from error
        return tool["inputSchema"]

    return lambda line: anyio.run(use, line)


CONVERTERS = {
    "openai-py": openai_py,
    "openai-agents": of_schema("agents.strict_schema", "ensure_strict_json_schema"),
    "pydantic-ai-openai": pydantic_ai_openai,
    "pydantic-ai-openai-limits": pydantic_ai_openai_limits,
    "pydantic-ai-google": of_schema(
        "pydantic_ai.profiles.google", "GoogleJsonSchemaTransformer", lambda made: made.walk()
    ),
    "pydantic-ai-bedrock": pydantic_ai_bedrock,
    "pydantic-ai-anthropic-limits": pydantic_ai_anthropic_limits,
    "anthropic-py": of_schema("anthropic", "transform_schema"),
    "google-genai": google_genai,
    "litellm-vertex": of_schema("litellm.llms.vertex_ai.common_utils", "build_vertex_schema", json_schema),
    "litellm-mistral": litellm_mistral,
    "langchain-google": of_schema("langchain_google_genai._function_utils", "_dict_to_genai_schema", dumped),
    "llguidance": llguidance,
    "outlines": outlines,
    "python-sdk": python_sdk,
}

# Written in Rust.
APART = {"llguidance", "outlines"}


def described(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, Timeout):
        return "Timeout"
    message = " ".join(str(error).split())
    return (message if isinstance(error, Refused) else f"{type(error).__name__}: {message}")[:200]


def expire(_signal, _frame):
    raise Timeout


class Apart:
    """A converter in a process of its own: code in Rust cannot be interrupted, and takes the memory it wants."""

    def __init__(self, name, convert):
        self.name, self.convert, self.child = name, convert, None

    def start(self):
        questions, question = os.pipe()
        answer, answers = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(question)
            os.close(answer)
            self.work(open(questions), open(answers, "w"))
        os.close(questions)
        os.close(answers)
        self.question, self.answer = open(question, "w"), open(answer)

    def work(self, questions, answers):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        for text in questions:
            print(json.dumps(run(self.name, self.convert, text)), file=answers, flush=True)
        os._exit(0)

    def run(self, text):
        if self.child is None:
            self.start()
        print(text.strip(), file=self.question, flush=True)
        if made := self.answer.readline():
            return json.loads(made)
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        self.child = None
        return {"error": "Timeout" if status == -signal.SIGVTALRM else "MemoryError"}


def run(name, convert, text):
    """What one converter makes of one line, in the form that is written."""
    line = json.loads(text)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    sys.setrecursionlimit(RECURSION_LIMIT)
    try:
        made = convert(line if name == "python-sdk" else line["tool"])
        return made if name == "outlines" else {"schema": made}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Rust code panics with a `BaseException`.
        return {"error": described(error)}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.setrecursionlimit(20 * RECURSION_LIMIT)


def main():
    warnings.simplefilter("ignore")
    logging.disable()
    signal.signal(signal.SIGVTALRM, expire)
    sys.stdout = io.StringIO()  # A converter's own prints would break the lines.
    sys.setrecursionlimit(20 * RECURSION_LIMIT)
    runs = {}
    for text in sys.stdin:
        line = json.loads(text)
        for name in CONVERTERS:
            if name not in line.get("converters", CONVERTERS):
                continue
            if name not in runs:
                convert = CONVERTERS[name]()
                runs[name] = Apart(name, convert).run if name in APART else partial(run, name, convert)
            made = {"id": line["id"], "converter": name, **runs[name](text)}
            STDOUT.write(json.dumps(made) + "\n")


main()
