"""Behaves well while a thread sends notifications for ever."""
import json
import sys
import threading

from toy import Toy

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "tick"}}
LOCK = threading.Lock()


class Floods(Toy):
    def write(self, data):
        with LOCK:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def flood(toy):
    lines = (json.dumps(NOTE).encode() + b"\n") * 50
    while True:
        toy.write(lines)


toy = Floods()
threading.Thread(target=flood, args=(toy,), daemon=True).start()
toy.serve()
