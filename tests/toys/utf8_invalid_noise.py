"""Prints a line that is not UTF-8 before it behaves well."""
from toy import Toy

toy = Toy()
toy.write(b"starting \xff\xfe\x80 toy\n")
toy.serve()
