"""Writes lines that are no messages, for ever, and never answers."""
import os

while True:
    os.write(1, b"tick tock, tick tock, tick tock, tick tock\n" * 1000)
