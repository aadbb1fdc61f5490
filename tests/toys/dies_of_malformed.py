"""Ends when a line is not JSON."""
import json
import os

from toy import Toy


class Dies(Toy):
    def on_line(self, line):
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            os._exit(1)
        super().on_line(line)


Dies().serve()
