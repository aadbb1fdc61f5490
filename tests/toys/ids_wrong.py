"""Answers every request under another id."""
from toy import Toy


class Wrong(Toy):
    def answer(self, message):
        reply = super().answer(message)
        return reply and {**reply, "id": 900_000}


Wrong().serve()
