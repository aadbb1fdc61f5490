"""Falls inside when a line is not JSON, and its reader sits in a read that only one more line but the next ends."""
import json
import os

from toy import Toy


class Asleep(Toy):
    fallen = 0

    def on_line(self, line):
        self.fallen += bool(self.fallen)
        if self.fallen > 2:
            os._exit(1)
        if not self.fallen:
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                self.fallen = 1
                return
            super().on_line(line)


Asleep().serve()
