"""A legacy server that exits when its first request is not initialize."""
import sys

from toy import Toy


class Dies(Toy):
    def result(self, method, params):
        if method == "server/discover":
            sys.exit("toy: expected initialize")
        return super().result(method, params)


Dies().serve()
