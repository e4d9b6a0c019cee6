"""Who calls: the owner, paired devices, agents; by tokens that are shown once and kept as seals."""

from codeplane.trust.identity.identities import EMBEDDED, Identities
from codeplane.trust.identity.owner import owner_token

# The name from before there were devices and agents with tokens.
LocalIdentity = Identities

__all__ = ["EMBEDDED", "Identities", "LocalIdentity", "owner_token"]
