"""What can go wrong, as a tree. A refusal or an escalation is an outcome, not an error.

SekishoError                   500
├── InvalidRequest             400  the body or a parameter is not what the contract says
├── NotAuthenticated           401  no key, or one we don't know
├── NotAllowed                 403  the key's role may not do this
│   └── UserDisabled                an admin keeps this user out
├── NotFound                   404  no such thing, or it belongs to another tenant
├── TooSlow                    408  the body did not come in time
├── Conflict                   409  somebody else changed or claimed it first
│   └── NameTaken                   another key or user of the tenant is called so
├── TooLarge                   413  the body is over the limit
├── TooManyAttempts            429  somebody guesses passwords
├── TicketNotStored            503  the question could not be kept for a person
├── StoreUnavailable           503  SQL can't be asked
├── ModelUnavailable           503  an encoder or a judge can't be asked
├── UpstreamUnavailable        502  the chatbot could not be asked, or answered garbage
│   └── ToolCalled                  it asked for a tool call, which nobody can check
└── ConfigurationError         (start-up) the configuration can't be used
"""

from __future__ import annotations

__all__ = [
    "ConfigurationError",
    "Conflict",
    "InvalidRequest",
    "ModelUnavailable",
    "NameTaken",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "SekishoError",
    "StoreUnavailable",
    "TicketNotStored",
    "TooLarge",
    "TooManyAttempts",
    "TooSlow",
    "ToolCalled",
    "UpstreamUnavailable",
    "UserDisabled",
]


class SekishoError(Exception):
    """Anything we can name. `str(error)` is fit for the client."""

    status = 500
    type = "server_error"  # OpenAI's envelope
    code = "internal_error"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class InvalidRequest(SekishoError):  # noqa: N818 - errors are named as facts
    """The body or a parameter is not what the contract says."""

    status, type, code = 400, "invalid_request_error", "invalid_request"


class NotAuthenticated(SekishoError):  # noqa: N818
    """No key, or one we don't know."""

    status, type, code = 401, "authentication_error", "invalid_api_key"


class NotAllowed(SekishoError):  # noqa: N818
    """The key's role may not do this."""

    status, type, code = 403, "permission_error", "role_not_allowed"


class UserDisabled(NotAllowed):
    """An admin keeps this user out."""


class NotFound(SekishoError):  # noqa: N818
    """No such thing, or it belongs to another tenant."""

    status, type, code = 404, "invalid_request_error", "not_found"


class TooSlow(SekishoError):  # noqa: N818
    """The body did not come in time."""

    status, type, code = 408, "invalid_request_error", "request_timeout"


class Conflict(SekishoError):  # noqa: N818
    """Somebody else changed or claimed it first."""

    status, type, code = 409, "invalid_request_error", "conflict"


class NameTaken(Conflict):
    """Another key or user of the tenant is called so."""

    code = "name_taken"


class TooLarge(SekishoError):  # noqa: N818
    """The body is over the limit."""

    status, type, code = 413, "invalid_request_error", "request_too_large"


class TooManyAttempts(SekishoError):  # noqa: N818
    """Somebody guesses passwords."""

    status, type, code = 429, "invalid_request_error", "too_many_attempts"


class TicketNotStored(SekishoError):  # noqa: N818
    """The question could not be kept for a person; nothing may be promised to the asker."""

    status, code = 503, "ticket_not_stored"


class StoreUnavailable(SekishoError):  # noqa: N818
    """SQL can't be asked."""

    status, code = 503, "store_unavailable"


class ModelUnavailable(SekishoError):  # noqa: N818
    """An encoder or a judge can't be asked; of an asker's question this is an outcome, escalated."""

    status, code = 503, "model_unavailable"


class UpstreamUnavailable(SekishoError):  # noqa: N818
    """The chatbot could not be asked, or answered garbage.

    `str(error)` quotes no text and no key, and `cause` says the same in one of few words: `http_STATUS`,
    `timeout`, `unreachable`, `broke_off`, `unreadable`, `no_text`, `filtered`, `left_alone`, `contexts`,
    `documents`, `encoder`.
    """

    status, code = 502, "upstream_unavailable"

    def __init__(self, message: str, *, cause: str = "unknown") -> None:
        super().__init__(message)
        self.cause = cause


class ToolCalled(UpstreamUnavailable):
    """The chatbot asked for a tool call instead of answering."""


class ConfigurationError(SekishoError):
    """The configuration can't be used; the message says where and what was expected."""

    code = "configuration_error"
