"""Ends with an exception when a required argument is missing."""
import os

from toy import Toy


class Dies(Toy):
    def refuse(self, entry, why):
        if "missing" in why:
            os._exit(7)
        return super().refuse(entry, why)


Dies().serve()
