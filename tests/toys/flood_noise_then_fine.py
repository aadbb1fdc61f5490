"""Writes 50 MiB of lines that are no messages and then behaves well."""
from toy import Toy

toy = Toy()
for _ in range(50):
    toy.write((b"n" * 1023 + b"\n") * 1024)
toy.serve()
