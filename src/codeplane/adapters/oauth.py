"""OAuth for MCP servers over HTTP: sealed tokens, refreshed when they are old, got again by the owner alone."""

import json
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codeplane.adapters.sealed_file import SealedFile
from codeplane.kernel.config import OAuthConfig
from codeplane.kernel.errors import CodePlaneError, ToolSignInNeeded
from codeplane.kernel.json import JsonObject

if TYPE_CHECKING:
    import httpx2
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.client.auth.oauth2 import OAuthContext
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

_CLIENT_NAME = "CodePlane"
REDIRECT_PATH = "/callback"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """What a person does in a browser: they are shown an address, and come back to another one."""

    redirect_uri: str
    show: Callable[[str], Awaitable[None]]
    wait: "Callable[[], Awaitable[AuthorizationCodeResult]]"


@dataclass(slots=True, kw_only=True)
class ServerOAuth:
    """The tokens of one server; without `sign_in` nobody is there to get new ones."""

    server: str
    url: str
    config: OAuthConfig
    client_secret: str
    file: SealedFile
    # Gets every token, so that none is recorded.
    learn: Callable[[Iterable[str]], None] = lambda secrets: None
    sign_in: SignIn | None = None
    # Why no token could be got.
    _problem: str = field(default="", init=False)

    def explain(self, error: BaseException) -> CodePlaneError | None:
        """The error that says to sign in, when that is what a connection failed for."""
        if not self._problem:
            return None
        hint = (
            "look at oauth of the server in the settings" if self._is_own_account else f"cpl tools login {self.server}"
        )
        return ToolSignInNeeded(f"{self.server} wants a token: {self._problem}", hint=hint)

    @property
    def _is_own_account(self) -> bool:
        return self.config.grant == "client_credentials"

    def build(self) -> "httpx2.Auth":
        """What adds tokens to requests; blocks while the library is imported."""
        self._problem = ""
        return self._own_account() if self._is_own_account else self._persons_account()

    def _own_account(self) -> "httpx2.Auth":
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

        owner = self

        class Provider(ClientCredentialsOAuthProvider):
            async def _perform_authorization(self) -> "httpx2.Request":
                try:
                    return await super()._perform_authorization()
                except Exception as error:
                    owner._problem = str(error)
                    raise

            async def _handle_token_response(self, response: "httpx2.Response") -> None:
                try:
                    await super()._handle_token_response(response)
                except Exception as error:
                    owner._problem = str(error)
                    raise

        return Provider(
            self.url,
            _Tokens(self),
            client_id=self.config.client_id,
            client_secret=self.client_secret,
            scope=self.config.scope or None,
            issuer=self.config.issuer,
        )

    def _persons_account(self) -> "OAuthClientProvider":
        from mcp.client.auth import OAuthClientProvider, OAuthFlowError
        from mcp.shared.auth import OAuthClientMetadata
        from pydantic import AnyUrl

        owner, tokens = self, _Tokens(self)

        class Provider(OAuthClientProvider):
            async def _initialize(self) -> None:
                await super()._initialize()
                tokens.restore(self.context)

            async def _perform_authorization(self) -> "httpx2.Request":
                if owner.sign_in is None:
                    owner._problem = "nobody has signed in, or the token is no longer taken"
                    raise OAuthFlowError(owner._problem)
                return await super()._perform_authorization()

            async def _exchange_token_authorization_code(self, auth_code: str, code_verifier: str) -> "httpx2.Request":
                self._check_issuer()
                return await super()._exchange_token_authorization_code(auth_code, code_verifier)

            async def _refresh_token(self) -> "httpx2.Request":
                self._check_issuer()
                return await super()._refresh_token()

            def _check_issuer(self) -> None:
                found = self.context.oauth_metadata
                if owner.config.issuer and (
                    found is None or str(found.issuer).rstrip("/") != owner.config.issuer.rstrip("/")
                ):
                    owner._problem = f"the server points to another issuer than {owner.config.issuer}"
                    raise OAuthFlowError(owner._problem)

        redirect = self.sign_in.redirect_uri if self.sign_in is not None else f"http://127.0.0.1{REDIRECT_PATH}"
        provider = Provider(
            self.url,
            OAuthClientMetadata(
                client_name=_CLIENT_NAME,
                redirect_uris=[AnyUrl(redirect)],
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
                scope=self.config.scope or None,
            ),
            tokens,
            redirect_handler=self.sign_in.show if self.sign_in is not None else None,
            callback_handler=self.sign_in.wait if self.sign_in is not None else None,
        )
        tokens.context = provider.context
        return provider


class _Tokens:
    """The stored tokens of one server, as the library asks for them."""

    def __init__(self, owner: ServerOAuth) -> None:
        self._owner = owner
        self.context: OAuthContext | None = None

    async def get_tokens(self) -> "OAuthToken | None":
        from mcp.shared.auth import OAuthToken

        stored = self._record().get("tokens")
        if not isinstance(stored, dict):
            return None
        token = OAuthToken.model_validate(stored)
        self._learn(token)
        return token

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        self._learn(tokens)
        record = self._record()
        record["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        record["expires_at"] = None if tokens.expires_in is None else time.time() + tokens.expires_in
        metadata = self.context.oauth_metadata if self.context is not None else None
        if metadata is not None:
            record["metadata"] = metadata.model_dump(mode="json", exclude_none=True)
        self._store(record)

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        from mcp.shared.auth import OAuthClientInformationFull

        config = self._owner.config
        if config.client_id:
            method = "client_secret_post" if self._owner.client_secret else "none"
            return OAuthClientInformationFull(
                client_id=config.client_id,
                client_secret=self._owner.client_secret or None,
                redirect_uris=None,
                token_endpoint_auth_method=method,
            )
        stored = self._record().get("client")
        # A client is registered with the address that one comes back to, which is another one at each sign-in.
        if not isinstance(stored, dict) or self._owner.sign_in is not None:
            return None
        return OAuthClientInformationFull.model_validate(stored)

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        record = self._record()
        record["client"] = client_info.model_dump(mode="json", exclude_none=True)
        self._store(record)

    def restore(self, context: "OAuthContext") -> None:
        """Give the library back what it does not store: when the token ends, and where to refresh it."""
        from mcp.shared.auth import OAuthMetadata

        record = self._record()
        expires, metadata = record.get("expires_at"), record.get("metadata")
        if isinstance(expires, int | float):
            context.token_expiry_time = float(expires)
        if isinstance(metadata, dict):
            context.oauth_metadata = OAuthMetadata.model_validate(metadata)
        if self._owner.sign_in is not None:
            # A person signs in again, whatever is stored.
            context.current_tokens = None

    def _record(self) -> JsonObject:
        text = self._owner.file.read().get(self._owner.server)
        record: JsonObject = json.loads(text) if text else {}
        # A token is for one address: settings that name another do not get it.
        return record if record.get("url") == self._owner.url else {"url": self._owner.url}

    def _store(self, record: JsonObject) -> None:
        self._owner.file.store(self._owner.server, json.dumps(record))

    def _learn(self, token: "OAuthToken") -> None:
        self._owner.learn(filter(None, (token.access_token, token.refresh_token)))
