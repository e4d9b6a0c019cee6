"""Who calls: the owner, paired devices, agents; by tokens that are shown once and kept as seals."""

from codeplane.trust.identity.identities import EMBEDDED, Identities
from codeplane.trust.identity.owner import holds_no_token, is_owners, owner_token

__all__ = ["EMBEDDED", "Identities", "holds_no_token", "is_owners", "owner_token"]
