"""Has a read-only tool without parameters that returns 200 MiB."""
from toy import ECHO, Toy, text, tool


class Large(Toy):
    tools = [ECHO, tool("get_dump", "Returns the whole store as text.", read_only=True)]

    def call(self, name, arguments):
        return text("data " * (40 << 20)) if name == "get_dump" else super().call(name, arguments)


Large().serve()
