"""Answers with the id turned into a string."""
from toy import Toy


class Strings(Toy):
    def answer(self, message):
        reply = super().answer(message)
        return reply and {**reply, "id": str(reply["id"])}


Strings().serve()
