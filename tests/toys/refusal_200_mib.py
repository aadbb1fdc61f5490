"""Refuses each wrong call with 200 MiB of text."""
from toy import ECHO, Toy, text


class Large(Toy):
    tools = [ECHO]

    def refuse(self, entry, why):
        return text("Invalid arguments. " * (200 << 20 >> 4), isError=True)


Large().serve()
