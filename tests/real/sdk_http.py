"""One tool on the Python SDK over Streamable HTTP: `sdk_http.py PORT`. Works with mcp 1.x, mcp 2.x and fastmcp."""
import sys

PORT = int(sys.argv[1])
RUN = {"transport": "streamable-http", "host": "127.0.0.1", "port": PORT}
try:
    from fastmcp import FastMCP as Server

    SETTINGS = {}
except ImportError:
    try:
        from mcp.server.mcpserver import MCPServer as Server

        SETTINGS = {}
    except ImportError:
        from mcp.server.fastmcp import FastMCP as Server

        # mcp 1.x takes the address when it is made, not when it runs.
        SETTINGS, RUN = {"host": "127.0.0.1", "port": PORT}, {"transport": "streamable-http"}

server = Server("sums", **SETTINGS)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


server.run(**RUN)
