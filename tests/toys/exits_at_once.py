"""Ends before it was asked anything, with a reason on stderr."""
import sys

sys.stderr.write("toy: cannot find its settings\n")
sys.exit(3)
