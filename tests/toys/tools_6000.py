"""Lists 6 000 tools."""
from toy import Toy, tool


class Many(Toy):
    tools = [tool(f"tool_{n}", "Does one small thing well.") for n in range(6000)]


Many().serve()
