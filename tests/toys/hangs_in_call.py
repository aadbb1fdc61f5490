"""Never comes back from a call with a parameter of the wrong type."""
import time

from toy import Toy


class Hangs(Toy):
    def refuse(self, entry, why):
        while "must be a" in why:
            time.sleep(60)
        return super().refuse(entry, why)


Hangs().serve()
