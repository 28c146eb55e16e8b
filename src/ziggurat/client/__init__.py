"""A server of Ziggurat from afar: the same questions, answers, prices and pictures, waiting or awaited."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.client._addresses import (
        KEY_VARIABLE,
        SERVER_VARIABLE,
        ServerPlace,
        find_place,
        forget_place,
        read_key_file,
        store_place,
        stored_addresses,
    )
    from ziggurat.client._facts import (
        ServedAnswer,
        ServedEntry,
        ServedJob,
        ServedKey,
        ServedModel,
        ServedOutlook,
        ServedPerson,
        ServedRelease,
        ServedTable,
        ServedVerification,
    )
    from ziggurat.client._jobs import BundleCheck
    from ziggurat.client._models import ServedLabels
    from ziggurat.client._servers import AsyncServer, Server, connect, connect_async, follow_link
    from ziggurat.client._sessions import AsyncRemoteSession, RemoteSession
    from ziggurat.client._surveys import ServedSurvey
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_addresses": """
                KEY_VARIABLE SERVER_VARIABLE ServerPlace find_place forget_place read_key_file store_place
                stored_addresses
            """,
            "_facts": """
                ServedAnswer ServedEntry ServedJob ServedKey ServedModel ServedOutlook ServedPerson ServedRelease
                ServedTable ServedVerification
            """,
            "_jobs": "BundleCheck",
            "_models": "ServedLabels",
            "_servers": "AsyncServer Server connect connect_async follow_link",
            "_sessions": "AsyncRemoteSession RemoteSession",
            "_surveys": "ServedSurvey",
        },
    )

__all__ = [
    "KEY_VARIABLE",
    "SERVER_VARIABLE",
    "AsyncRemoteSession",
    "AsyncServer",
    "BundleCheck",
    "RemoteSession",
    "ServedAnswer",
    "ServedEntry",
    "ServedJob",
    "ServedKey",
    "ServedLabels",
    "ServedModel",
    "ServedOutlook",
    "ServedPerson",
    "ServedRelease",
    "ServedSurvey",
    "ServedTable",
    "ServedVerification",
    "Server",
    "ServerPlace",
    "connect",
    "connect_async",
    "find_place",
    "follow_link",
    "forget_place",
    "read_key_file",
    "store_place",
    "stored_addresses",
]
