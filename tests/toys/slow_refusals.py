"""Takes a quarter of a second for every refusal: slow, and alive."""
import time

from toy import ECHO, Toy


class Slow(Toy):
    tools = [ECHO]

    def refuse(self, entry, why):
        time.sleep(0.25)
        return super().refuse(entry, why)


Slow().serve()
