"""Closes its stdout at the first wrong call and lives on."""
import os

from toy import Toy


class Closes(Toy):
    def refuse(self, entry, why):
        os.close(1)
        return super().refuse(entry, why)

    def write(self, data):
        try:
            super().write(data)
        except OSError:
            pass


Closes().serve()
