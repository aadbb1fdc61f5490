"""Ends three seconds after its start whatever it is sent, in the middle of its slow refusals."""
import os
import threading
import time

from toy import ECHO, Toy


class Ends(Toy):
    tools = [ECHO]

    def refuse(self, entry, why):
        time.sleep(0.8)
        return super().refuse(entry, why)


threading.Timer(3, lambda: os._exit(1)).start()
Ends().serve()
