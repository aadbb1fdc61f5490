"""Speaks both eras, in one process."""
from toy import Toy


class Dual(Toy):
    modern = True


Dual().serve()
