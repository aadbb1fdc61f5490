"""Behaves well and fills its directory with files that are hard to remove."""
import os

from toy import Toy

os.makedirs("deep/" * 40, exist_ok=True)
os.symlink("/", "root_link")
os.mkdir("locked")
open("locked/file", "w").close()
os.chmod("locked", 0)
os.mkfifo("pipe")
Toy().serve()
