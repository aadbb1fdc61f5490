"""Speaks 2026-07-28 and nothing else."""
from toy import Toy


class Modern(Toy):
    legacy, modern = False, True


Modern().serve()
