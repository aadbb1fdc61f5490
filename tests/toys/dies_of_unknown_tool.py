"""Ends when a tool is called that it does not have."""
import os

from toy import Refused, Toy


class Dies(Toy):
    def on_call(self, params):
        try:
            return super().on_call(params)
        except Refused:
            os._exit(1)


Dies().serve()
