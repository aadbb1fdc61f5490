"""Lists a schema with a number that no double can hold (valid JSON all the same)."""
import json

from toy import Toy, tool


class Overflow(Toy):
    tools = [tool("count", "Counts up to the number given.", ["to"], to={"type": "number", "maximum": 7777})]

    def send(self, message):
        self.write(json.dumps(message).encode().replace(b"7777", b"1e999") + b"\n")


Overflow().serve()
