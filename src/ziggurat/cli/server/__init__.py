"""`ziggurat serve`, `login`, `logout` and `server`: run a server, and use one from a terminal."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.server._login import login, logout
    from ziggurat.cli.server._reach import OnServer, OnServerIfSaid, open_server, refuse_local
    from ziggurat.cli.server._serve import serve
    from ziggurat.cli.server._stewarding import app
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_login": "login logout",
            "_reach": "OnServer OnServerIfSaid open_server refuse_local",
            "_serve": "serve",
            "_stewarding": "app",
        },
    )

__all__ = ["OnServer", "OnServerIfSaid", "app", "login", "logout", "open_server", "refuse_local", "serve"]
