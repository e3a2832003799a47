"""The tools of the servers of both Python SDKs, what they ask, and which calls are running."""

import anyio

TOKEN = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOLS = {
    "add": NUMBERS,
    "ask_name": {"type": "object"},
    "ask_model": {"type": "object"},
    "ask_roots": {"type": "object"},
    "count_up": TOKEN,
    "release": TOKEN,
    "wait": TOKEN,
    "state": TOKEN,
    "log": {"type": "object"},
    "add_tool": NAME,
}
added = []
FORM = NAME
QUESTION = "What is six times seven?"


class States:
    def __init__(self):
        self.known = {}

    def get(self, token):
        return self.known.get(token, "unknown")

    async def released(self, token):
        while self.get(token) != "released":
            await anyio.sleep(0.01)

    async def wait(self, token):
        """Runs until it is cancelled."""
        self.known[token] = "running"
        try:
            await anyio.sleep_forever()
        finally:
            self.known[token] = "cancelled"


states = States()


def schemas():
    """The tools, with those that were added."""
    return TOOLS | {name: {"type": "object"} for name in added}


async def run(name, arguments, context):
    """The text of a tool that asks nothing and tells nobody else."""
    match name:
        case "add":
            return str(arguments["a"] + arguments["b"])
        case "release":
            states.known[arguments["token"]] = "released"
            return "done"
        case "wait":
            return await states.wait(arguments["token"])
        case "state":
            return states.get(arguments["token"])
        case "log":
            await context.session.send_log_message(
                "warning", "a line of the log", related_request_id=context.request_id
            )
            return "done"
    return "added"
