"""Behaves well, then neither the end of stdin nor SIGTERM ends it."""
import signal
import time

from toy import Toy

signal.signal(signal.SIGTERM, signal.SIG_IGN)
Toy().serve()
while True:
    time.sleep(60)
