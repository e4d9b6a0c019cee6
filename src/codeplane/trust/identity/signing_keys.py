"""The keys that sign agents' tokens: one signs, retired ones verify until their tokens expire."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import StorageFailed
from codeplane.kernel.ids import new_id
from codeplane.trust.identity.secret_file import read_secret, write_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class _Active(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key_id: str = Field(alias="key_id")
    private: str = Field(alias="private")


class _Retired(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key_id: str = Field(alias="key_id")
    public: str = Field(alias="public")
    until_ns: int = Field(alias="until_ns")


class _KeyFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    active: _Active = Field(alias="active")
    retired: tuple[_Retired, ...] = Field((), alias="retired")


class SigningKeys:
    """Ed25519 keys in a file that only the owner can read, created with the first token."""

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._file = self._read()
        self._private: Ed25519PrivateKey | None = None
        self._public: dict[str, Ed25519PublicKey] = {}

    @property
    def active(self) -> str | None:
        """The id of the key that signs, or None while there is none."""
        return self._file.active.key_id if self._file is not None else None

    def signer(self) -> "tuple[str, Ed25519PrivateKey]":
        """The key that signs, and its id."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if self._file is None:
            self._write(_KeyFile(active=_new_key()))
        assert self._file is not None
        active = self._file.active
        if self._private is None:
            self._private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(active.private))
        return active.key_id, self._private

    def verifier(self, key_id: str) -> "Ed25519PublicKey | None":
        """The public half of a key that is still valid."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if not self.knows(key_id):
            return None
        public_key = self._public.get(key_id)
        if public_key is None:
            if key_id == self.active:
                public_key = self.signer()[1].public_key()
            else:
                assert self._file is not None
                raw = next(key.public for key in self._file.retired if key.key_id == key_id)
                public_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(raw))
            self._public[key_id] = public_key
        return public_key

    def knows(self, key_id: str) -> bool:
        """Whether tokens signed with the key are still accepted."""
        if self._file is None:
            return False
        now = self._clock.now_ns()
        return key_id == self._file.active.key_id or any(
            key.key_id == key_id and now < key.until_ns for key in self._file.retired
        )

    def rotate(self, *, until_ns: int) -> str:
        """Sign with a new key; the old one verifies until the given time."""
        now = self._clock.now_ns()
        retired: list[_Retired] = []
        if self._file is not None and until_ns > now:
            key_id, private = self.signer()
            public = private.public_key().public_bytes_raw().hex()
            retired = [key for key in self._file.retired if key.until_ns > now]
            retired.append(_Retired(key_id=key_id, public=public, until_ns=until_ns))
        new_key = _new_key()
        self._write(_KeyFile(active=new_key, retired=tuple(retired)))
        return new_key.key_id

    def _read(self) -> _KeyFile | None:
        content = read_secret(self._path)
        if content is None:
            return None
        try:
            file = _KeyFile.model_validate(json.loads(content))
            raw = [file.active.private, *(key.public for key in file.retired)]
            if any(len(bytes.fromhex(text)) != 32 for text in raw):
                raise ValueError("a key has the wrong length")
        except (ValueError, ValidationError, RecursionError) as error:
            raise StorageFailed(
                f"{self._path} holds no keys for agents' tokens",
                hint=f"mv {self._path} {self._path}.broken, then start again; agents then need new tokens",
            ) from error
        return file

    def _write(self, file: _KeyFile) -> None:
        write_secret(self._path, file.model_dump_json(by_alias=True).encode() + b"\n")
        self._file, self._private, self._public = file, None, {}


def _new_key() -> _Active:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return _Active(key_id=new_id("key"), private=Ed25519PrivateKey.generate().private_bytes_raw().hex())
