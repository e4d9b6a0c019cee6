"""Everything the dashboard is made of beside its pages, put together from what the planes share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from codeplane.kernel.clock import Clock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.ports import Ledger, StreamObserver
from codeplane.observe.dashboard.boards import BoardOperations
from codeplane.observe.dashboard.calls import CallOperations
from codeplane.observe.dashboard.figures import FiguresOperations
from codeplane.observe.dashboard.settings import ConfigOperations
from codeplane.surfaces.web.sign_ins import SignIns
from codeplane.surfaces.web.signing_in import SignInOperations


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """Who is signed in, and the operations that go into the catalogue."""

    sign_ins: SignIns
    operations: tuple[object, ...]

    @classmethod
    def of(
        cls,
        *,
        log: Ledger,
        streams: StreamObserver,
        clock: Clock,
        cursors: Cursors,
        owner_token: str,
        file: Path,
        url: Callable[[], str],
        config: BaseModel,
        origins: Mapping[str, str],
        sources: Sequence[str],
        clients: Callable[[], Sequence[tuple[str, str, str]]] = tuple,
    ) -> "Dashboard":
        """Put it together; `file` keeps who is signed in over a restart."""
        sign_ins = SignIns(clock=clock, owner_token=owner_token, file=file)
        return cls(
            sign_ins=sign_ins,
            operations=(
                SignInOperations(sign_ins, url=url),
                CallOperations(log=log, cursors=cursors, streams=streams),
                FiguresOperations(tables=log, clock=clock),
                BoardOperations(log=log, clock=clock, cursors=cursors),
                ConfigOperations(config=config, origins=origins, sources=sources, clients=clients),
            ),
        )
