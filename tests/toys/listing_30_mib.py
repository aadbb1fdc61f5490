"""Lists three tools in 30 MiB, under the bound."""
from toy import Toy, tool


class Large(Toy):
    tools = [tool(f"big_{n}", "Has a very long default.", text={"type": "string", "default": "word " * (2 << 20)}) for n in range(3)]


Large().serve()
