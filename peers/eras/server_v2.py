"""The Python SDK 2.x as a server with the tools that `steps.py` uses: `server_v2.py modern|legacy|dual`.

On standard input and output, or with `--http` on a free port, which it prints. The SDK serves both eras and has no
switch for one of them: "modern" and "legacy" call the loop of that era where the SDK would choose one.
"""

import logging
import sys

import anyio
from mcp import types
from mcp.server import runner, streamable_http_manager
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from surface import FORM, QUESTION, added, run, schemas, states

logging.disable()

ERA = sys.argv[1]
bus = InMemorySubscriptionBus()
ELICITATION = types.ElicitRequestFormParams(message="What is your name?", requested_schema=FORM)
MESSAGE = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=QUESTION))
REQUESTS = {
    "ask_name": types.ElicitRequest(params=ELICITATION),
    "ask_model": types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[MESSAGE], max_tokens=10)),
    "ask_roots": types.ListRootsRequest(),
}


async def ask(context, params):
    """What the client answers: at once, or in the call that it makes with the answer."""
    if context.protocol_version < "2026-07-28":
        match params.name:
            case "ask_name":
                return await context.session.elicit_form(
                    ELICITATION.message, FORM, related_request_id=context.request_id
                )
            case "ask_model":
                return await context.session.create_message([MESSAGE], max_tokens=10)
            case _:
                return await context.session.list_roots()
    answer = (params.input_responses or {}).get("answer")
    if answer is None or params.request_state != f"asked by {params.name}":
        return types.InputRequiredResult(
            input_requests={"answer": REQUESTS[params.name]}, request_state=f"asked by {params.name}"
        )
    return answer


async def call_tool(context, params):
    arguments = params.arguments or {}
    session = context.session
    match params.name:
        case "ask_name" | "ask_model" | "ask_roots":
            answer = await ask(context, params)
            match answer:
                case types.InputRequiredResult():
                    return answer
                case types.ElicitResult():
                    text = f"Hello, {answer.content['name']}"
                case types.ListRootsResult():
                    text = " ".join(str(root.uri) for root in answer.roots)
                case _:
                    text = f"The model said: {answer.content.text}"
        case "count_up":
            for progress in 1, 2, 3:
                await session.report_progress(progress, 3)
            await states.released(arguments["token"])
            text = "done"
        case "add_tool":
            added.append(arguments["name"])
            await bus.publish(ToolsListChanged())
            if context.protocol_version < "2026-07-28":
                await session.send_tool_list_changed()
            text = "done"
        case _:
            text = await run(params.name, arguments, context)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_tools(context, params):
    tools = [types.Tool(name=name, description=name, input_schema=schema) for name, schema in schemas().items()]
    return types.ListToolsResult(tools=tools)


async def set_logging_level(context, params):
    return types.EmptyResult()


async def list_resources(context, params):
    return types.ListResourcesResult(resources=[types.Resource(name="greeting", uri="test://greeting")])


async def read_resource(context, params):
    contents = types.TextResourceContents(uri=params.uri, text="Hello from a resource")
    return types.ReadResourceResult(contents=[contents])


async def list_prompts(context, params):
    argument = types.PromptArgument(name="name", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet", arguments=[argument])])


async def get_prompt(context, params):
    content = types.TextContent(type="text", text=f"Greet {params.arguments['name']}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


server = Server(
    "python-v2",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_set_logging_level=set_logging_level,
    on_subscriptions_listen=ListenHandler(bus),
)
# The session manager takes its options from here.
plain_options = server.create_initialization_options
server.create_initialization_options = lambda: plain_options(NotificationOptions(tools_changed=True))


async def main():
    async with stdio_server() as (read, write), server.lifespan(server) as state:
        if ERA == "modern":
            await runner._serve_modern_stream(server, read, write, lifespan_state=state, raise_exceptions=False)
        elif ERA == "legacy":
            await runner.serve_loop(server, read, write, lifespan_state=state)
        else:
            await server.run(read, write, server.create_initialization_options())


def app():
    app = server.streamable_http_app()
    manager = server.session_manager

    async def modern(scope, receive, send):
        await streamable_http_manager.handle_modern_request(
            server, manager.security_settings, manager.json_response, manager._lifespan_state, scope, receive, send
        )

    if ERA != "dual":
        manager.asgi_app.app = modern if ERA == "modern" else manager._handle_stateful_request
    return app


if "--http" in sys.argv:
    from listen import listen

    listen(app())
else:
    anyio.run(main)
