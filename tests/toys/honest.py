"""Behaves well in the legacy revisions; must pass everything that is scored."""
from toy import Toy

Toy().serve()
