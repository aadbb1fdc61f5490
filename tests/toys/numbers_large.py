"""Uses numbers that are large and valid in its schemas."""
from toy import ECHO, Toy, tool


class Large(Toy):
    tools = [ECHO, tool("count", "Counts up to the number given.", ["to"], to={"type": "number", "minimum": -1e22, "maximum": 123456789012345678901234567890})]


Large().serve()
