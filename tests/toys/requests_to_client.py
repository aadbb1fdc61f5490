"""Asks the client for things and waits for each answer before it goes on."""
import json
import sys

from toy import Toy


class Asks(Toy):
    asked = 0

    def ask(self, method):
        self.asked += 1
        own = f"toy-{self.asked}"
        self.send({"jsonrpc": "2.0", "id": own, "method": method})
        for line in iter(sys.stdin.buffer.readline, b""):
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict) and message.get("id") == own and "method" not in message:
                return
            reply = self.answer(message)
            if reply is not None:
                self.send(reply)

    def on_line(self, line):
        if b"notifications/initialized" in line:
            for method in ("ping", "roots/list", "sampling/createMessage", "elicitation/create", "toy/unheard-of"):
                self.ask(method)
        super().on_line(line)


Asks().serve()
