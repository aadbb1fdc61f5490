"""Behaves well and leaves a grandchild in a session of its own."""
import os
import time

from toy import Toy

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
Toy().serve()
