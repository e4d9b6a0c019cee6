"""Errors of the providers of models."""

from codeplane.kernel.errors.error import CodePlaneError


class ProviderUnavailable(
    CodePlaneError,
    name="PROVIDER_UNAVAILABLE",
    acp="ERR_MODEL_UNAVAILABLE",
    code=6030,
    http=503,
    rpc="unavailable",
    hint="call again later; see what is configured and whether it answers: cpl models test",
    retryable=True,
):
    """No model provider gave a complete answer, even after every retry and fallback."""


class ProviderDenied(
    CodePlaneError,
    name="PROVIDER_DENIED",
    acp="ERR_EXTERNAL_LLM_DISABLED",
    code=6031,
    http=403,
    rpc="permission_denied",
    hint="see which models may be asked: cpl models; the owner's lists are models.providers and models.allow",
):
    """The model is not on the owner's list, or runs on another machine, which the owner does not allow."""


class ProviderRejected(
    CodePlaneError,
    name="PROVIDER_REJECTED",
    acp="ERR_MODEL_UNAVAILABLE",
    code=6032,
    http=502,
    rpc="failed_precondition",
    hint="see what is wrong with its key, address or model: cpl models test",
):
    """The provider rejected the key, the model or the request itself; retrying does not help."""


class ModelCeilingReached(
    CodePlaneError,
    name="MODEL_CEILING_REACHED",
    acp="ERR_RATE_LIMIT",
    code=6033,
    http=429,
    rpc="resource_exhausted",
    hint="the owner raises the ceiling named in details in their settings; see what was used: cpl models",
):
    """The cost limit for models in this turn, thread or day is reached."""
