"""Speaks both eras, but a process stays in the era of its first request."""
from toy import META, Refused, Toy


class Pins(Toy):
    modern = True
    pinned = None

    def result(self, method, params):
        era = "modern" if META + "protocolVersion" in (params.get("_meta") or {}) else "legacy"
        self.pinned = self.pinned or era
        if era != self.pinned:
            raise Refused(-32022, f"this connection serves the {self.pinned} protocol")
        return super().result(method, params)


Pins().serve()
