"""Which work a call may see, and which it may change."""

from codeplane.kernel.call import Call
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.ports import ScopeOf
from codeplane.trust.people import is_person


def work_scope(scope_of: ScopeOf) -> ScopeOf:
    """As `scope_of` where a call reads; what changes something is bound to the caller's own unless a person calls.

    To be shown what others do (`context_sharing`) is not to change it: a schedule or thread runs for who made it.
    """

    def scope(call: Call) -> EventScope | None:
        found = scope_of(call)
        if found is None and call.operation.mutates and not is_person(call.actor):
            return EventScope(actor=str(call.actor))
        return found

    return scope
