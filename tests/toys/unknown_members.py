"""Adds members that no revision knows to every frame: allowed, and ignored by clients."""
from toy import Toy


class More(Toy):
    def answer(self, message):
        reply = super().answer(message)
        if reply and "result" in reply:
            reply["result"]["x-toy"] = {"traceId": "7f"}
        return reply and {**reply, "x-toy": True}


More().serve()
