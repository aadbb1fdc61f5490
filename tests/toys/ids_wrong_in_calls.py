"""Answers tools/call under another id: the caller waits for ever."""
from toy import Toy


class Wrong(Toy):
    def answer(self, message):
        reply = super().answer(message)
        return {**reply, "id": 900_000} if reply and message["method"] == "tools/call" else reply


Wrong().serve()
