"""What the clients of the Python SDK answer to questions of a server."""

from mcp import types


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    content = types.TextContent(type="text", text="42")
    return types.CreateMessageResult(role="assistant", content=content, model="none")


async def list_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada")])


CALLBACKS = {
    "elicitation_callback": elicit,
    "sampling_callback": sample,
    "list_roots_callback": list_roots,
}
