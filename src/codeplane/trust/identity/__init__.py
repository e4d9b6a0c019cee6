"""Identity of callers: the owner, paired devices and agents, by tokens that are stored only as seals."""

from codeplane.trust.identity.identities import EMBEDDED, Identities
from codeplane.trust.identity.owner import is_owner_token, is_token_missing, owner_token

__all__ = ["EMBEDDED", "Identities", "is_owner_token", "is_token_missing", "owner_token"]
