"""Writes its replies in small pieces: slow, and correct."""
import json
import time

from toy import Toy


class Slow(Toy):
    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        for at in range(0, len(data), 200):
            self.write(data[at : at + 200])
            time.sleep(0.001)


Slow().serve()
