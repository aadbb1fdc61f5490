"""Fails to start with text on stderr that attacks terminals and logs."""
import sys

sys.stderr.write("\x1b[2J\x1b]0;title\x07::error::pwned\n##[error]pwned\n::add-mask::x\nsection_end:0:x\r\x1b[0K\u202e\n")
sys.exit(1)
