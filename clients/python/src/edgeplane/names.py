"""An exception for each name of an error."""

# Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.
from __future__ import annotations

from typing import Dict, Type

from .errors import NodeError


class ParseError(NodeError):
    """The bytes are not JSON."""

    NAME = "parse_error"
    CODE = -32700
    HTTP_STATUS = 400


class InvalidRequest(NodeError):
    """The JSON is not a request."""

    NAME = "invalid_request"
    CODE = -32600
    HTTP_STATUS = 400


class MethodNotFound(NodeError):
    """No such method."""

    NAME = "method_not_found"
    CODE = -32601
    HTTP_STATUS = 404


class InvalidParams(NodeError):
    """The parameters are not what the method takes."""

    NAME = "invalid_params"
    CODE = -32602
    HTTP_STATUS = 400


class Internal(NodeError):
    """A defect of ours."""

    NAME = "internal"
    CODE = -32603
    HTTP_STATUS = 500


class Unauthenticated(NodeError):
    """The caller has not proven who it is."""

    NAME = "unauthenticated"
    CODE = 4010
    HTTP_STATUS = 401


class PermissionDenied(NodeError):
    """The caller may not do this."""

    NAME = "permission_denied"
    CODE = 4030
    HTTP_STATUS = 403


class PolicyBlocked(NodeError):
    """A rule refuses it."""

    NAME = "policy_blocked"
    CODE = 4033
    HTTP_STATUS = 403


class NotFound(NodeError):
    """No such thing, or none that the caller may see."""

    NAME = "not_found"
    CODE = 4040
    HTTP_STATUS = 404


class Conflict(NodeError):
    """Something of that name is there already."""

    NAME = "conflict"
    CODE = 4090
    HTTP_STATUS = 409


class VersionConflict(NodeError):
    """It has changed since it was read."""

    NAME = "version_conflict"
    CODE = 4091
    HTTP_STATUS = 409


class IdempotencyMismatch(NodeError):
    """The key was used for something else."""

    NAME = "idempotency_mismatch"
    CODE = 4092
    HTTP_STATUS = 409


class WrongWorkspace(NodeError):
    """What is spoken of belongs to another workspace."""

    NAME = "wrong_workspace"
    CODE = 4093
    HTTP_STATUS = 409


class Fenced(NodeError):
    """The caller's epoch is over."""

    NAME = "fenced"
    CODE = 4094
    HTTP_STATUS = 409


class ReplayGap(NodeError):
    """The wanted part of the stream is gone."""

    NAME = "replay_gap"
    CODE = 4100
    HTTP_STATUS = 410


class InvalidState(NodeError):
    """The thing is in a state that does not allow this."""

    NAME = "invalid_state"
    CODE = 4120
    HTTP_STATUS = 412


class TooLarge(NodeError):
    """Larger than the limit."""

    NAME = "too_large"
    CODE = 4130
    HTTP_STATUS = 413


class Unsupported(NodeError):
    """Known, but not served here."""

    NAME = "unsupported"
    CODE = 4150
    HTTP_STATUS = 501


class InvalidManifest(NodeError):
    """The manifest is wrong."""

    NAME = "invalid_manifest"
    CODE = 4220
    HTTP_STATUS = 422


class Locked(NodeError):
    """Somebody else holds it."""

    NAME = "locked"
    CODE = 4230
    HTTP_STATUS = 423


class RateLimited(NodeError):
    """Too often."""

    NAME = "rate_limited"
    CODE = 4290
    HTTP_STATUS = 429


class QuotaExhausted(NodeError):
    """A limit of number or size is reached."""

    NAME = "quota_exhausted"
    CODE = 4291
    HTTP_STATUS = 429


class Backpressure(NodeError):
    """The receiver's queue is full."""

    NAME = "backpressure"
    CODE = 4292
    HTTP_STATUS = 429


class Cancelled(NodeError):
    """The caller took it back."""

    NAME = "cancelled"
    CODE = 4990
    HTTP_STATUS = 499


class UpstreamFailed(NodeError):
    """What the node uses for this failed, or gave something else than it was given."""

    NAME = "upstream_failed"
    CODE = 5020
    HTTP_STATUS = 502


class Unavailable(NodeError):
    """The node cannot serve this now."""

    NAME = "unavailable"
    CODE = 5030
    HTTP_STATUS = 503


class OutcomeUnknown(NodeError):
    """Whether it took effect is not known: read, then decide."""

    NAME = "outcome_unknown"
    CODE = 5031
    HTTP_STATUS = 503


class DeadlineExceeded(NodeError):
    """Not done in the time given."""

    NAME = "deadline_exceeded"
    CODE = 5041
    HTTP_STATUS = 504


class StorageFull(NodeError):
    """No space for the record: nothing was changed."""

    NAME = "storage_full"
    CODE = 5070
    HTTP_STATUS = 507


class RecordDamaged(NodeError):
    """The record failed verification and is read-only."""

    NAME = "record_damaged"
    CODE = 5071
    HTTP_STATUS = 503


BY_NAME: Dict[str, Type[NodeError]] = {
    "parse_error": ParseError,
    "invalid_request": InvalidRequest,
    "method_not_found": MethodNotFound,
    "invalid_params": InvalidParams,
    "internal": Internal,
    "unauthenticated": Unauthenticated,
    "permission_denied": PermissionDenied,
    "policy_blocked": PolicyBlocked,
    "not_found": NotFound,
    "conflict": Conflict,
    "version_conflict": VersionConflict,
    "idempotency_mismatch": IdempotencyMismatch,
    "wrong_workspace": WrongWorkspace,
    "fenced": Fenced,
    "replay_gap": ReplayGap,
    "invalid_state": InvalidState,
    "too_large": TooLarge,
    "unsupported": Unsupported,
    "invalid_manifest": InvalidManifest,
    "locked": Locked,
    "rate_limited": RateLimited,
    "quota_exhausted": QuotaExhausted,
    "backpressure": Backpressure,
    "cancelled": Cancelled,
    "upstream_failed": UpstreamFailed,
    "unavailable": Unavailable,
    "outcome_unknown": OutcomeUnknown,
    "deadline_exceeded": DeadlineExceeded,
    "storage_full": StorageFull,
    "record_damaged": RecordDamaged,
}
