"""The plans that can still be applied: a limited number for a limited time; their requests outlive the process."""

import threading
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from codeplane.index.files.paths import escape_bytes
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import PlanNotFound
from codeplane.refactor.plan import Plan, RefactorSpec

_MAX_PLANS = 200
_MAX_BYTES = 256 * 1024 * 1024
_ENDING = ".json"


class PlanRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan leaves on disk: the request, and the digest of the plan."""

    spec: RefactorSpec = msgspec.field(name="asked")
    digest: str = msgspec.field(name="digest")
    expires_ns: int = msgspec.field(name="expires_ns")
    # Every file that some choice among its edits would write.
    paths: tuple[str, ...] = msgspec.field(default=(), name="paths")


class PlanStore:
    """Stores plans by id; the oldest are dropped when there are too many or they hold too much text."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._plans = BoundedCache[str, Plan](_MAX_PLANS, max_weight=_MAX_BYTES, weigh=_size, keep_newest=True)

    def add(self, plan: Plan) -> None:
        """Store a plan."""
        with self._lock:
            self._plans.put(plan.plan_id, plan)
            self._write(plan)

    def get(self, plan_id: str) -> Plan | None:
        """Return the plan with this id, if this process made it and it has not expired."""
        plan = self._plans.get(plan_id)
        if plan is not None and plan.expires_ns <= self._clock.now_ns():
            self._plans.pop(plan_id)
            return None
        return plan

    def record(self, plan_id: str) -> PlanRecord:
        """Return the record of a plan; PlanNotFound if there is none, or it expired."""
        try:
            if not plan_id.replace("_", "").replace("-", "").isalnum():
                raise OSError("no name of a plan")
            found = msgspec.json.decode((self._folder / f"{plan_id}{_ENDING}").read_bytes(), type=PlanRecord)
        except (OSError, msgspec.DecodeError) as error:
            raise PlanNotFound(f"there is no plan {plan_id!r}, or it is no longer kept") from error
        if found.expires_ns <= self._clock.now_ns():
            raise PlanNotFound(f"the plan {plan_id} is no longer kept")
        return found

    def drop(self, plan_id: str) -> None:
        """Delete a plan."""
        with self._lock:
            self._plans.pop(plan_id)
            (self._folder / f"{plan_id}{_ENDING}").unlink(missing_ok=True)

    def _write(self, plan: Plan) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        paths = tuple(map(escape_bytes, plan.paths_of(plan.every)))
        record = PlanRecord(spec=plan.spec, digest=plan.digest, expires_ns=plan.expires_ns, paths=paths)
        with NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            file.write(msgspec.json.encode(record))
        Path(file.name).replace(self._folder / f"{plan.plan_id}{_ENDING}")
        # Ids sort by time.
        for old in sorted(self._folder.glob(f"*{_ENDING}"))[:-_MAX_PLANS]:
            old.unlink(missing_ok=True)


def _size(plan: Plan) -> int:
    return sum(map(len, plan.texts.values()))
