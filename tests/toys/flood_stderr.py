"""Behaves well while a thread fills stderr for ever."""
import os
import threading

from toy import Toy


def flood():
    while True:
        os.write(2, b"debug: " + b"x" * 65000 + b"\n")


threading.Thread(target=flood, daemon=True).start()
Toy().serve()
