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
