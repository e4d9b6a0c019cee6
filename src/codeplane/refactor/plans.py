"""The plans that can still be applied: a bounded number, for a while; what was asked outlives the process."""

import threading
from collections import OrderedDict
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from codeplane.index.files.paths import written
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import PlanNotFound
from codeplane.refactor.plan import Asked, Plan

_MAX_PLANS = 200
_MAX_BYTES = 256 * 1024 * 1024
_ENDING = ".json"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a plan on disk: the question, and what its answer was."""

    asked: Asked = msgspec.field(name="asked")
    digest: str = msgspec.field(name="digest")
    expires_ns: int = msgspec.field(name="expires_ns")
    # Every file that some choice among its edits would write.
    paths: tuple[str, ...] = msgspec.field(default=(), name="paths")


class Plans:
    """Keeps plans by id; the oldest go when there are too many or they hold too much text."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._plans: OrderedDict[str, Plan] = OrderedDict()

    def add(self, plan: Plan) -> None:
        """Keep a plan."""
        with self._lock:
            self._plans[plan.plan_id] = plan
            held = sum(map(_size, self._plans.values()))
            while len(self._plans) > 1 and (len(self._plans) > _MAX_PLANS or held > _MAX_BYTES):
                held -= _size(self._plans.popitem(last=False)[1])
            self._write(plan)

    def get(self, plan_id: str) -> Plan | None:
        """The plan with this id, if this process made it and it is still kept."""
        with self._lock:
            plan = self._plans.get(plan_id)
            if plan is not None and plan.expires_ns <= self._clock.now_ns():
                del self._plans[plan_id]
                return None
            return plan

    def record(self, plan_id: str) -> Record:
        """What a plan was made from; PlanNotFound when it is not kept."""
        try:
            if not plan_id.replace("_", "").replace("-", "").isalnum():
                raise OSError("no name of a plan")
            found = msgspec.json.decode((self._folder / f"{plan_id}{_ENDING}").read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError) as error:
            raise PlanNotFound(f"there is no plan {plan_id!r}, or it is no longer kept") from error
        if found.expires_ns <= self._clock.now_ns():
            raise PlanNotFound(f"the plan {plan_id} is no longer kept")
        return found

    def drop(self, plan_id: str) -> None:
        """Forget a plan."""
        with self._lock:
            self._plans.pop(plan_id, None)
            (self._folder / f"{plan_id}{_ENDING}").unlink(missing_ok=True)

    def _write(self, plan: Plan) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        paths = tuple(map(written, plan.paths_of(plan.every)))
        record = Record(asked=plan.asked, digest=plan.digest, expires_ns=plan.expires_ns, paths=paths)
        with NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            file.write(msgspec.json.encode(record))
        Path(file.name).replace(self._folder / f"{plan.plan_id}{_ENDING}")
        # Ids are in the order of time.
        for old in sorted(self._folder.glob(f"*{_ENDING}"))[:-_MAX_PLANS]:
            old.unlink(missing_ok=True)


def _size(plan: Plan) -> int:
    return sum(map(len, plan.texts.values()))
