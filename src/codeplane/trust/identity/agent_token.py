"""Agents' tokens: JWTs signed with Ed25519, parsed as strictly as they are written."""

import base64
import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import Capability
from codeplane.kernel.errors import InvalidArgument, TokenExpired, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.trust.capabilities.grant import ApprovalMode
from codeplane.trust.identity.signing_keys import SigningKeys

ISSUER: Final = "codeplane"
AUDIENCE: Final = "codeplane"
MAX_TOKEN = 8192
_ALGORITHM, _TYPE = "EdDSA", "JWT"
# How far two readings of one machine's clock may differ; a token from further in the future is not ours.
LEEWAY_SEC = 5
_HINT = "get a new one: cpl agents token NAME"

Second = Annotated[int, Field(ge=0, lt=2**40)]


class TokenContext(BaseModel):
    """The bounds in a token; None does not restrict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    approval_mode: ApprovalMode | None = Field(None, alias="approval_mode")
    allowed_paths: tuple[str, ...] | None = Field(None, alias="allowed_paths")
    allowed_tools: tuple[str, ...] | None = Field(None, alias="allowed_tools")
    max_agents: Annotated[int, Field(ge=0, strict=True)] | None = Field(None, alias="max_agents")

    def to_json(self) -> JsonObject:
        """The bounds that are set, as tokens and the log hold them."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Claims(BaseModel):
    """The claims of 001 §5.1, and the token's own id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    iss: Literal["codeplane"] = Field(ISSUER, alias="iss")
    sub: str = Field(min_length=1, max_length=100, alias="sub")
    aud: tuple[Literal["codeplane"]] = Field((AUDIENCE,), alias="aud")
    exp: Annotated[Second, Field(strict=True)] = Field(alias="exp")
    iat: Annotated[Second, Field(strict=True)] = Field(alias="iat")
    nbf: Annotated[Second, Field(strict=True)] | None = Field(None, alias="nbf")
    jti: str = Field(min_length=8, max_length=100, alias="jti")
    capabilities: tuple[Capability, ...] = Field(alias="capabilities")
    context: TokenContext = Field(TokenContext(), alias="context")


def import_jwt() -> None:
    """Import the JWT library, which is slow: in a thread, before a call needs it."""
    import jwt  # noqa: F401  # only loaded, and with it the cryptography it needs


def sign_token(claims: Claims, keys: SigningKeys) -> tuple[str, str]:
    """Sign claims as a token; returns it and the id of the key."""
    import jwt

    key_id, private = keys.signer()
    payload = claims.model_dump(mode="json", by_alias=True, exclude_none=True)
    token = jwt.encode(payload, private, algorithm=_ALGORITHM, headers={"kid": key_id})
    if len(token) > MAX_TOKEN:
        raise InvalidArgument(
            f"the token would have {len(token)} characters, more than {MAX_TOKEN}",
            hint="name fewer paths and tools, or wider ones",
        )
    return token, key_id


def looks_like_jwt(token: str) -> bool:
    """Whether a token is shaped like a JWT."""
    return token.count(".") == 2 and token.startswith("ey")


def verify_token(token: str, keys: SigningKeys, clock: Clock) -> tuple[Claims, str]:
    """The claims of a token that this server signed and that is valid now, and the key's id."""
    import jwt

    if len(token) > MAX_TOKEN or not token.isascii():
        raise _refusal("it is too long or not plain text")
    if not all(map(_is_canonical, token.split("."))):
        # Decoders drop the last bits of a part: one token must not have several spellings.
        raise _refusal("it is not in canonical form")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise _refusal("it cannot be read") from error
    key_id = header.get("kid")
    if header != {"alg": _ALGORITHM, "typ": _TYPE, "kid": key_id} or not isinstance(key_id, str):
        # Exactly the header that we write: no other algorithm, no critical extensions.
        raise _refusal("its header is not one of ours")
    key = keys.verifier(key_id)
    if key is None:
        raise _refusal("it is signed with an unknown or retired key")
    try:
        payload = jwt.decode(
            token,
            key,
            algorithms=[_ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            # The times are compared below, with the clock that everything else uses.
            options={
                "require": ["exp", "iat", "sub", "jti", "aud", "iss"],
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
        claims = Claims.model_validate(json.loads(json.dumps(payload)))
    except ValidationError as error:
        raise _refusal("its claims are invalid") from error
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise _refusal("its signature, issuer or audience is wrong") from error
    now_ns = clock.now_ns()
    starts = max(claims.iat, claims.nbf or 0)
    if now_ns < (starts - LEEWAY_SEC) * SECOND_NS:
        raise _refusal("it is from the future")
    if now_ns >= claims.exp * SECOND_NS:
        raise TokenExpired("the agent's token has expired", hint=_HINT)
    return claims, key_id


def _is_canonical(part: str) -> bool:
    try:
        data = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return False
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode() == part


def _refusal(reason: str) -> Unauthorized:
    return Unauthorized(f"the agent's token is refused: {reason}", hint=_HINT)
