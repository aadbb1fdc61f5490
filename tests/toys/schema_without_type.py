"""Lists a tool whose input schema lacks `type: object`; the list can still be read."""
from toy import ADD, Toy, complaint, text


class Wrong(Toy):
    tools = [{"name": "echo", "description": "Returns the text it was given.", "inputSchema": {}}, ADD]

    def call(self, name, arguments):
        return text("an echo") if name == "echo" else super().call(name, arguments)


Wrong().serve()
