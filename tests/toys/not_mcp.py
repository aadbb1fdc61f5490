"""A program that talks, but not MCP."""
import sys

print("Welcome to toy shell 1.0. Type help for help.", flush=True)
for line in sys.stdin:
    print("unknown command", flush=True)
