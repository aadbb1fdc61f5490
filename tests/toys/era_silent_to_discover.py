"""A legacy server that never answers a method it does not know."""
from toy import Toy


class Silent(Toy):
    def answer(self, message):
        if isinstance(message, dict) and message.get("method") == "server/discover":
            return None
        return super().answer(message)


Silent().serve()
