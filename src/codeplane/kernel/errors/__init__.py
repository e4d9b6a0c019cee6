"""The one table of errors: every failure a caller can see is a class in the file of its family."""

from codeplane.kernel.errors.acp import *
from codeplane.kernel.errors.agents import *
from codeplane.kernel.errors.edit import *
from codeplane.kernel.errors.error import CodePlaneError as CodePlaneError
from codeplane.kernel.errors.explore import *
from codeplane.kernel.errors.git import *
from codeplane.kernel.errors.idempotency import *
from codeplane.kernel.errors.index import *
from codeplane.kernel.errors.jobs import *
from codeplane.kernel.errors.models import *
from codeplane.kernel.errors.refactor import *
from codeplane.kernel.errors.requests import *
from codeplane.kernel.errors.server import *
from codeplane.kernel.errors.storage import *
from codeplane.kernel.errors.streams import *
from codeplane.kernel.errors.testing import *
from codeplane.kernel.errors.threads import *
from codeplane.kernel.errors.tools import *
from codeplane.kernel.errors.trust import *
from codeplane.kernel.errors.web import *
from codeplane.kernel.errors.work import *

# By code, from every file above.
ERRORS: tuple[type[CodePlaneError], ...] = tuple(sorted(CodePlaneError.__subclasses__(), key=lambda kind: kind.code))
