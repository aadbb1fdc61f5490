"""Lists its tools in one page of 40 MiB."""
from toy import ECHO, Toy, tool


class Large(Toy):
    tools = [ECHO, tool("big", "Has a very long default.", text={"type": "string", "default": "word " * (8 << 20)})]


Large().serve()
