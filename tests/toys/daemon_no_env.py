"""Behaves well and leaves a daemon behind that threw away its environment."""
import os
import sys

from toy import Toy

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.chdir("/")
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", *sys.argv[1:]], {})
    os._exit(0)
Toy().serve()
