"""The Python SDK 1.x as a server with the tools that `steps.py` uses: `server_v1.py legacy`.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import logging

from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents

from serve import serve
from surface import FORM, QUESTION, added, run, schemas, states

logging.disable()

server = Server("python-v1", version="1")


@server.list_tools()
async def list_tools():
    return [types.Tool(name=name, description=name, inputSchema=schema) for name, schema in schemas().items()]


@server.call_tool()
async def call_tool(name, arguments):
    context = server.request_context
    session = context.session
    match name:
        case "ask_name":  # on the stream of the call
            answer = await session.elicit_form("What is your name?", FORM, related_request_id=context.request_id)
            text = f"Hello, {answer.content['name']}"
        case "ask_model":  # on the stream that the client opens with GET
            content = types.TextContent(type="text", text=QUESTION)
            answer = await session.create_message([types.SamplingMessage(role="user", content=content)], max_tokens=10)
            text = f"The model said: {answer.content.text}"
        case "ask_roots":
            text = " ".join(str(root.uri) for root in (await session.list_roots()).roots)
        case "count_up":
            for progress in 1, 2, 3:
                await session.send_progress_notification(
                    context.meta.progressToken, progress, 3, related_request_id=str(context.request_id)
                )
            await states.released(arguments["token"])
            text = "done"
        case "add_tool":
            added.append(arguments["name"])
            await session.send_tool_list_changed()
            text = "done"
        case _:
            text = await run(name, arguments, context)
    return [types.TextContent(type="text", text=text)]


@server.set_logging_level()
async def set_logging_level(level):
    pass


@server.list_resources()
async def list_resources():
    return [types.Resource(name="greeting", uri="test://greeting")]


@server.read_resource()
async def read_resource(uri):
    return [ReadResourceContents("Hello from a resource", "text/plain")]


@server.list_prompts()
async def list_prompts():
    return [types.Prompt(name="greet", arguments=[types.PromptArgument(name="name", required=True)])]


@server.get_prompt()
async def get_prompt(name, arguments):
    content = types.TextContent(type="text", text=f"Greet {arguments['name']}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


# The session manager takes its options from here.
plain_options = server.create_initialization_options
server.create_initialization_options = lambda: plain_options(NotificationOptions(tools_changed=True))


serve(server)
