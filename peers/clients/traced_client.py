"""The Python SDK 2.x as a client of two revisions that calls the tool `where` as part of a trace, and prints its text."""

import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

command, *arguments = sys.argv[1:]
PARENT = SpanContext(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, True, TraceFlags(1))


async def main():
    target = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    for mode in ["2026-07-28", "legacy"]:
        async with Client(target, mode=mode) as client:
            with use_span(NonRecordingSpan(PARENT)):
                result = await client.call_tool("where", {})
            print(result.content[0].text, flush=True)


anyio.run(main)
