"""Answers each wrong call with a result and an error at once."""
from toy import Toy


class Both(Toy):
    def answer(self, message):
        reply = super().answer(message)
        if reply and reply.get("result", {}).get("isError"):
            reply["error"] = {"code": -32602, "message": "Invalid arguments"}
        return reply


Both().serve()
