"""Every promise that is implemented, and where it was made.

A test says what it proves with `@requirement("DOOR-01")`, a file of tests with `pytestmark = requirement("DOOR-01")`.
"""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise."""

    id: str
    source: str
    promise: str


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test, or all tests of a class or file, as proving the promises with these ids."""
    for id in ids:
        if id not in _IDS:
            raise ValueError(f"unknown requirement {id}: add it to tests/interaction/requirements.py")
    return pytest.mark.requirement(*ids)


REQUIREMENTS = (
    Requirement(
        id="CDX-01",
        source="issue 22",
        promise="OpenAI's SDK drives threads over Codex's protocol: turns, items, steering, history and forks",
    ),
    Requirement(
        id="CDX-02",
        source="issue 22",
        promise="without a model, turns over Codex's protocol are answered from the index; initialize says its version",
    ),
    Requirement(
        id="CDX-03",
        source="issue 22, decision 18",
        promise="over Codex's protocol a client is asked, and its answer counts, only where the owner allowed it",
    ),
    Requirement(
        id="CDX-04",
        source="issue 22",
        promise="bad input over Codex's protocol gets a typed error; a begun command is shown after kill -9",
    ),
    Requirement(
        id="CDX-05",
        source="issue 22",
        promise="a client of Codex's protocol that is cut off goes on after its cursor: 0 missed, 0 twice",
    ),
    Requirement(
        id="CDX-06",
        source="issue 22",
        promise="what is said over Codex's protocol fits the schema that Codex of the pinned version writes",
    ),
    Requirement(
        id="CLIENT-01",
        source="issue 22",
        promise="the Python client finds its server by the repository, and its streams of events and hits resume",
    ),
    Requirement(
        id="CLIENT-02",
        source="issue 22",
        promise="a server is announced by Bonjour only with TLS, if its owner wants that; its certificate is pinned",
    ),
    Requirement(
        id="CLIENT-03",
        source="issue 22",
        promise="a thread watched through the Python client over random cuts: 0 events missed, 0 twice",
    ),
    Requirement(
        id="DOOR-01",
        source="design §4",
        promise="every call passes the same stages in the same order, unary or streaming",
    ),
    Requirement(
        id="DOOR-02", source="design §4", promise="a stage that refuses keeps the handler from running, and is recorded"
    ),
    Requirement(
        id="DOOR-03",
        source="design §4",
        promise="arguments forgive what is plain and explain the rest with the nearest right name",
    ),
    Requirement(
        id="DOOR-04", source="design §4", promise="an operation is defined once; schema, tool and catalogue are derived"
    ),
    Requirement(
        id="DOOR-05", source="design §4", promise="deadlines and cancellation reach the handler and are recorded"
    ),
    Requirement(
        id="DOOR-06",
        source="design §4",
        promise="intent is durable before a mutation runs, outcome before it is answered; reads do not wait",
    ),
    Requirement(id="DOOR-07", source="002 §23.3", promise="every answer is an envelope of result and meta"),
    Requirement(id="DOOR-08", source="design §4", promise="what needs a person where nobody can be asked is denied"),
    Requirement(
        id="DOOR-09",
        source="002 §4.2, 000 §26, 001 §4.2",
        promise="one table of errors: unique code and name, retryable, hint, statuses, causes",
    ),
    Requirement(
        id="DOOR-10",
        source="design §5",
        promise="ids are UUIDv7 or say what they name; times have one width; JSON is always UTF-8",
    ),
    Requirement(
        id="DOOR-11",
        source="002 §23.6",
        promise="cursors are opaque, bound to their question, short-lived and unforgeable",
    ),
    Requirement(
        id="TOOL-01",
        source="design §10, issue 21",
        promise="tools of MCP servers are operations ext.<server>.<tool>: through the door, untrusted, recorded",
    ),
    Requirement(
        id="TOOL-02",
        source="003 §8.6, design §10",
        promise="a tool that nobody vouched for asks in every mode; trust is of this very definition, by people alone",
    ),
    Requirement(
        id="TOOL-03",
        source="design §10",
        promise="servers come from the owner's settings alone, never from a file in the repository; their secrets are "
        "sealed or from the environment, and in no record",
    ),
    Requirement(
        id="TOOL-04",
        source="design §10, issue 21",
        promise="a hostile or broken server cannot run, read, reach or hold up more than the owner gave it",
    ),
    Requirement(
        id="TOOL-05",
        source="003 §8.6, §9, issue 21",
        promise="tools over HTTP act with the person's account or one of their own; OAuth tokens are sealed, refreshed "
        "and sent nowhere else",
    ),
    Requirement(
        id="TOOL-06",
        source="001 §1.1, §1.3, design §10",
        promise="plugins answer calls over JSON lines, see events and call operations as actors with the rights that "
        "the settings give",
    ),
    Requirement(
        id="TOOL-07",
        source="issue 21",
        promise="`cpl tools` adds, imports, tests, trusts and removes servers, and the dashboard shows them",
    ),
    Requirement(
        id="TOOL-08", source="issue 21", promise="published MCP servers work as tools of turns and of work items"
    ),
    Requirement(id="TRUST-05", source="design §7", promise="a repository cannot bring its own settings or token"),
    Requirement(
        id="KEY-01",
        source="003 §8.7, §9",
        promise="the same key and arguments give the first result; the handler runs once",
    ),
    Requirement(
        id="KEY-02", source="003 §8.7", promise="other arguments under a used key are a conflict and an audit event"
    ),
    Requirement(
        id="KEY-03", source="design §4", promise="a call that was cut off is unknown and not run again by itself"
    ),
    Requirement(
        id="TRUST-01",
        source="design §7",
        promise="reads and workspace writes run; destructive, outward and shell calls of agents wait for a person",
    ),
    Requirement(id="TRUST-02", source="design §4", promise="a call's own risk decides, not its operation's"),
    Requirement(
        id="SCHED-01",
        source="003 §5, §7, §8.9, design §10",
        promise="schedules are made, changed, listed and deleted; unknown keys, bad zones and too many are refused",
    ),
    Requirement(
        id="SCHED-02",
        source="design §10",
        promise="the times of cron expressions are those of zoneinfo, in gaps and folds of every zone",
    ),
    Requirement(
        id="SCHED-03",
        source="003 §8.9, design §10",
        promise="a time fires once: over kills, with two servers or planes at once, and when the clock is set back",
    ),
    Requirement(
        id="SCHED-04",
        source="design §10",
        promise="the newest of missed times is caught up on, the others are counted; an overlapping run is skipped",
    ),
    Requirement(
        id="SCHED-05",
        source="003 §8.9, §8.13",
        promise="a heartbeat is a turn in its schedule's thread that stays silent when there is nothing to report",
    ),
    Requirement(
        id="SCHED-06",
        source="design §10",
        promise="a schedule stops within a second and says why when its creator is revoked or its thread is gone",
    ),
    Requirement(
        id="SCHED-07",
        source="design §10",
        promise="schedules wake with a server only, keep one in the background up, and status and dashboard say so",
    ),
    Requirement(
        id="SCHED-08",
        source="design §10",
        promise="cpl up --install has systemd start the server and can be undone; without systemd it says what to do",
    ),
    Requirement(
        id="SCHED-09",
        source="003 §5, §7, §8.9",
        promise="SchedulesService is served over Connect, gRPC-Web and gRPC, and by the Python client",
    ),
    Requirement(
        id="SCHED-10",
        source="003 §10",
        promise="a person makes, runs, rests and deletes schedules on the dashboard and by cpl schedules",
    ),
    Requirement(
        id="WORK-05",
        source="design §10",
        promise="a person sees work as a tree on the dashboard and by cpl work, follows, cancels and resumes it there",
    ),
    Requirement(
        id="LOG-53",
        source="design §10",
        promise="text that arrives in pieces is redacted as if it had come whole, wherever it is split",
    ),
    Requirement(
        id="LOG-52",
        source="design §10",
        promise="an agent sees tasks, sessions and mutations of its own and of its work; people see all of them",
    ),
    Requirement(
        id="LOG-50",
        source="003 §4.4, design §10",
        promise="an agent reads what it did and began; what others did by a grant; people read everything",
    ),
    Requirement(
        id="LOG-51",
        source="design §5",
        promise="a commit wakes only who wants its events, and who is near reads memory",
    ),
    Requirement(
        id="WORK-02",
        source="design §10",
        promise="a work item's calls are made in order, each once, over restarts, questions, limits and cancelling",
    ),
    Requirement(
        id="WORK-03",
        source="design §10",
        promise="what work planned is kept whole, sealed and bounded; events and answers show it redacted",
    ),
    Requirement(
        id="OAG-01",
        source="issue 22",
        promise="an outside ACP agent runs turns in a work tree of its own; its diff is applied as one mutation",
    ),
    Requirement(
        id="OAG-02",
        source="issue 22",
        promise="an outside agent writes no checkout, and sees no home, secret or network but as declared",
    ),
    Requirement(
        id="OAG-03",
        source="issue 22",
        promise="what an outside agent asks for passes the door: permissions, files, commands, tools",
    ),
    Requirement(
        id="OAG-04",
        source="issue 22",
        promise="an outside agent that hangs, floods, exits or is cut off ends its turn with a reason, or goes on",
    ),
    Requirement(
        id="OAG-05",
        source="issue 22",
        promise="agents on both published ACP libraries, Claude Code and Gemini: edits refused, applied and undone",
    ),
    Requirement(
        id="OAG-06",
        source="issue 22",
        promise="outside agents work on jobs, and are added, listed and tried at the terminal and dashboard",
    ),
    Requirement(
        id="JOB-01",
        source="003 §5, §7, §8.9, design §10",
        promise="a job runs in the background in a thread; the same trigger is one job; places and priorities hold",
    ),
    Requirement(
        id="JOB-02",
        source="design §10 (Isolation)",
        promise="a job changes files in its own work tree; a person applies the diff as one mutation or discards it",
    ),
    Requirement(
        id="JOB-03",
        source="003 §8.4, §8.9, §8.13, design §10",
        promise="jobs pause at their budget, only propose what reaches out, end at a cancel, and spawn within bounds",
    ),
    Requirement(
        id="JOB-04",
        source="003 §8.9, design §10 (Acting for somebody, Untrusted content)",
        promise="the end of a job comes back once to the thread that started it, with the marks of what it read",
    ),
    Requirement(
        id="JOB-05",
        source="003 §5, §7",
        promise="JobsService over Connect, gRPC-Web and gRPC and in the Python client; WatchThread shows its states",
    ),
    Requirement(
        id="JOB-06",
        source="issue 21, design §10",
        promise="jobs survive kills as they were: a thousand queued, five running, all end once, no edit is made twice",
    ),
    Requirement(
        id="JOB-07",
        source="003 §10, issue 21",
        promise="cpl jobs and the page Work show jobs, follow them live, and apply or discard what they changed",
    ),
    Requirement(
        id="TURN-01",
        source="003 §8.1, §8.8, design §10",
        promise="a turn asks the model and calls its tools through the door; all of it is one gap-free stream",
    ),
    Requirement(
        id="TURN-02",
        source="003 §7, §8.8, design §10",
        promise="the same client message is one turn; queue modes, budgets, pauses, interrupts and cancels end as said",
    ),
    Requirement(
        id="TURN-03",
        source="003 §8.1, §8.4",
        promise="output that cannot be used is repaired, then another model is asked, then the turn fails and says so",
    ),
    Requirement(
        id="TURN-04",
        source="003 §8.8, design §10",
        promise="a turn that was killed goes on at its last recorded step, and no effect happens twice",
    ),
    Requirement(
        id="TURN-05",
        source="003 §8.4, §8.9, design §10",
        promise="after untrusted content a turn only proposes what leaves, and the outcome comes back as a new turn",
    ),
    Requirement(
        id="TURN-06",
        source="003 §8.4, design §10",
        promise="a model that obeys what files and pages say pushes, fetches, runs, approves and reveals nothing by it",
    ),
    Requirement(
        id="TURN-07",
        source="issue conversations, design §10",
        promise="floods, split secrets, races of clients and people and a full disk end turns as said, nothing twice",
    ),
    Requirement(
        id="CHAT-01",
        source="003 §10, design §10",
        promise="cpl ask and cpl chat stream answers, name tools, ask for decisions and go on in threads",
    ),
    Requirement(
        id="CHAT-02",
        source="003 §10, design §10",
        promise="the dashboard shows conversations as they happen; loading or reconnecting doubles nothing",
    ),
    Requirement(
        id="RPC-20",
        source="003 §5, §6, §7",
        promise="threads and turns are served over Connect, gRPC-Web and gRPC, and a cut stream goes on where it was",
    ),
    Requirement(
        id="RPC-21",
        source="issue conversations, 003 §6",
        promise="the Python client has threads and turns, sync and async; its streams go on after a lost server, each "
        "event once, within bounded tries; closing or cancelling ends the connection",
    ),
    Requirement(
        id="RPC-22",
        source="003 §8.3",
        promise="output of a command that is not UTF-8 comes over the wire as the bytes that were printed",
    ),
    Requirement(
        id="THREAD-01",
        source="003 §6, §7, §9",
        promise="a snapshot and a watch from its last sequence miss nothing; messages are paged, bounded and retained",
    ),
    Requirement(
        id="THREAD-02",
        source="design §10",
        promise="threads are seen by people and by who created them, nobody else",
    ),
    Requirement(
        id="THREAD-03",
        source="design §10",
        promise="a watcher of a thread that is cut off goes on after its cursor on every wire: 0 missed, 0 twice",
    ),
    Requirement(
        id="THREAD-04",
        source="issue 22, Codex's protocol",
        promise="a fork begins with the messages of another thread and its mark of untrusted content",
    ),
    Requirement(
        id="WORK-04",
        source="003 §7, §8.4",
        promise="decisions name the rules' version and a reason code; steps of work are recorded as allowed or blocked",
    ),
    Requirement(
        id="WORK-01",
        source="design §10, 003 §8.4",
        promise="work acts for somebody: it may do what both may, only proposes what reaches out, and ends with them",
    ),
    Requirement(
        id="TRUST-03",
        source="design §6",
        promise=".git, under whatever name git keeps it, and .codeplane are written by no operation",
    ),
    Requirement(
        id="TRUST-04",
        source="design §7",
        promise="callers over MCP are agents, never the owner; RPC needs the owner's token",
    ),
    Requirement(id="LOG-01", source="design §5, 003 §6", promise="sequences are gap-free per stream whoever appends"),
    Requirement(id="LOG-02", source="design §5", promise="append with an expected sequence is all or nothing"),
    Requirement(
        id="LOG-03",
        source="design §5",
        promise="appends that wait together are committed together; what is acknowledged is durable",
    ),
    Requirement(id="LOG-04", source="design §5", promise="live tables equal rebuilt ones, whatever happened"),
    Requirement(
        id="LOG-05",
        source="003 §6, design §5",
        promise="watch resumes after a sequence without loss or repetition, with heartbeats",
    ),
    Requirement(id="LOG-06", source="003 §6", promise="events that are gone are a real gap, and end the watch"),
    Requirement(
        id="LOG-07",
        source="002 §12.5, 003 §9",
        promise="retention by class and by number of tasks, never past a snapshot",
    ),
    Requirement(id="LOG-08", source="000 §24", promise="exported traces rotate at 50 MB with the older ones gzipped"),
    Requirement(
        id="LOG-54",
        source="issue 19",
        promise="results for keys are sealed in the ledger and in a shared log; those of earlier versions are read",
    ),
    Requirement(
        id="LOG-55",
        source="issue faults",
        promise="whoever is cancelled while it waits ends, also when it is woken at that moment",
    ),
    Requirement(
        id="LOG-56",
        source="issue faults",
        promise="events that are written on the event loop are written once, in order and all or none, also when the "
        "loop is busy, stopped, closed or interrupted",
    ),
    Requirement(id="LOG-09", source="design §5", promise="results for keys are kept in a bounded store"),
    Requirement(
        id="LOG-10", source="issue faults", promise="forward-only migrations; a newer schema is left alone to the byte"
    ),
    Requirement(
        id="LOG-11",
        source="issue faults",
        promise="a damaged ledger is told, and salvaged on request, keeping the file",
    ),
    Requirement(
        id="LOG-12",
        source="issue faults",
        promise="a full disk refuses writes whole, reads go on, nothing acknowledged is lost",
    ),
    Requirement(id="LOG-13", source="design §9", promise="nothing acknowledged is lost to kill -9"),
    Requirement(id="LOG-14", source="002 §23.6", promise="pages of events show the log as it was at the first"),
    Requirement(
        id="SHR-01",
        source="design §13",
        promise="nodes on a shared log apply the same batches in the same order, and their ledgers are equal",
    ),
    Requirement(
        id="SHR-02", source="issue faults", promise="a node whose disk fails stops and says so; the others go on"
    ),
    Requirement(
        id="SHR-03", source="design §13", promise="a new node starts from a snapshot, after older batches were trimmed"
    ),
    Requirement(
        id="SHR-04",
        source="issue faults",
        promise="a ledger, snapshot or batch that does not fit the shared log is refused, and nothing is changed",
    ),
    Requirement(
        id="SHR-05", source="design §13", promise="recovery ends what its own node left, and nothing of another one"
    ),
    Requirement(
        id="SHR-06",
        source="design §13",
        promise="grants, tokens, answers and marks that change in one plane hold in the others at the next delivery",
    ),
    Requirement(
        id="SHR-07", source="design §13", promise="an idempotency key runs once, whichever planes it is used in"
    ),
    Requirement(
        id="SHR-08",
        source="design §10",
        promise="work whose server has gone is finished once by another that may, and the first one notices",
    ),
    Requirement(
        id="LOG-18",
        source="design §13",
        promise="caches are fed by applied events, in order and before the append returns, whoever appended",
    ),
    Requirement(
        id="TASK-01",
        source="002 §12.2, §23.3",
        promise="a connection has an implicit session with a task; create, close, configure, join",
    ),
    Requirement(
        id="TASK-02",
        source="002 §12.3, §23.9",
        promise="budgets are enforced; a used-up task is failed and only reopened explicitly",
    ),
    Requirement(
        id="TASK-03", source="002 §12.3", promise="fingerprints ignore incidental detail; repetition is signalled"
    ),
    Requirement(
        id="TASK-04", source="002 §12.4, 000 §24", promise="a restart closes open tasks as interrupted and resumes none"
    ),
    Requirement(
        id="TASK-08",
        source="002 §12.4, design §6",
        promise="of a call that was cut off it is said whether it was done, where the journal or git's record knows",
    ),
    Requirement(
        id="TASK-07",
        source="002 §9.5, §12",
        promise="a change is recorded with a hash of HEAD, git's index and the files, before and after it",
    ),
    Requirement(id="TASK-05", source="002 §23.3", promise="idle sessions close"),
    Requirement(
        id="SRV-19",
        source="issue faults",
        promise="a busy server keeps its threads on one core, and what it starts runs on every core",
    ),
    Requirement(
        id="SRV-01", source="002 §4.2, §23.8", promise="every response to the owner's account names the repository"
    ),
    Requirement(
        id="SRV-13",
        source="002 §4.2, design §7",
        promise="unfinished requests end by deadlines, and a flood of requests shuts the owner out on no surface",
    ),
    Requirement(
        id="SRV-14",
        source="002 §23.8, design §7",
        promise="status, metrics and the repository's name are for the owner's account or a token",
    ),
    Requirement(
        id="SRV-15",
        source="MCP 2025-11-25, JSON-RPC 2.0",
        promise="of two requests with one id under way in a session the later is refused, the first answered",
    ),
    Requirement(
        id="SRV-16",
        source="design §9",
        promise="what every request costs is small: one question about its account, no event stream for a plain answer",
    ),
    Requirement(
        id="SRV-17",
        source="design §9",
        promise="edits that come one upon another share what follows them, and the next question finds them",
    ),
    Requirement(
        id="SRV-18",
        source="design §9",
        promise="a plain tool call is answered as the SDK answers it, without its message loop; what is short needs no "
        "thread of its own where the disk is local",
    ),
    Requirement(id="SRV-02", source="design §7", promise="Host and Origin are checked against DNS rebinding"),
    Requirement(
        id="SRV-03",
        source="design §7",
        promise="binding beyond loopback is refused; the port is stable with a fallback",
    ),
    Requirement(id="SRV-04", source="002 §23.8", promise="/health, /ready, /status and /metrics"),
    Requirement(
        id="SRV-05", source="002 §4.2", promise="graceful shutdown: calls finish, streams get `shutdown`, five seconds"
    ),
    Requirement(
        id="SRV-06",
        source="design §7",
        promise="one server a repository, also when many start at once or after kill -9",
    ),
    Requirement(
        id="SRV-07", source="002 §4.2", promise="logs to several outputs with levels and correlation ids; secrets never"
    ),
    Requirement(
        id="SRV-08", source="002 §13.3", promise="metrics of calls, ledger, sessions and tasks with bounded labels"
    ),
    Requirement(
        id="SRV-09", source="design §7", promise="a detached server ends when idle, not while somebody is there"
    ),
    Requirement(
        id="SRV-10",
        source="issue faults",
        promise="bodies, connections and malformed requests are bounded and answered",
    ),
    Requirement(
        id="SRV-11", source="issue faults", promise="a .codeplane that is read-only, a file, or forged does no harm"
    ),
    Requirement(id="SRV-12", source="003 §6", promise="the log as server-sent events, resumed without loss"),
    Requirement(
        id="CLI-01",
        source="002 §4.2",
        promise="init creates, lists and registers; again it changes nothing; git stays clean",
    ),
    Requirement(
        id="CLI-30",
        source="002 §4.2",
        promise="cpl init builds the first index, can be told not to, and leaves no server behind",
    ),
    Requirement(
        id="CLI-32",
        source="threat model",
        promise="what others wrote is shown on a terminal with its control characters escaped, and piped as it is",
    ),
    Requirement(
        id="CLI-31",
        source="002 §4.2, §23.7",
        promise="status tells symbols, size, last reconcile, active contexts and the last error",
    ),
    Requirement(
        id="CLI-02",
        source="issue CLI",
        promise="clients are registered from one table, keeping comments and other entries",
    ),
    Requirement(id="CLI-03", source="002 §4.2", promise="status and doctor with --json, --verbose, --follow, --logs"),
    Requirement(
        id="CLI-04",
        source="issue CLI",
        promise="call reaches any operation through the server or embedded; --json is the envelope",
    ),
    Requirement(id="CLI-05", source="issue CLI", promise="log shows the ledger with filters, --follow and --json"),
    Requirement(id="CLI-06", source="design §8, issue", promise="help and the shim import nothing slow"),
    Requirement(
        id="CLI-07", source="issue CLI", promise="the shim relays bytes, finds or starts the server, and ends clearly"
    ),
    Requirement(
        id="CLI-08",
        source="002 §4.2",
        promise="settings: --set over environment over repository over user over defaults",
    ),
    Requirement(
        id="CLI-09",
        source="issue CLI",
        promise="uninstall takes back what init and up put there, after asking; everywhere, it leaves nothing",
    ),
    Requirement(
        id="MCP-01", source="002 §23.2", promise="the conformance suite passes what applies, for both protocol versions"
    ),
    Requirement(id="MCP-02", source="issue MCP", promise="third-party clients connect and call"),
    Requirement(id="MCP-03", source="issue MCP", promise="Claude Code's model receives what our tool said"),
    Requirement(
        id="MCP-03a",
        source="design §9",
        promise="a start does not wait for the library of MCP; its first client does, once",
    ),
    Requirement(id="MCP-04", source="design §4", promise="tools by toolset; the default list is small and pinned"),
    Requirement(
        id="MCP-12",
        source="design §4, 002 §23.3",
        promise="an operation that a setting switches off is not listed, and a call of it is told which setting",
    ),
    Requirement(id="MCP-05", source="design §4", promise="compact text alone; structure on request"),
    Requirement(
        id="MCP-06",
        source="002 §23.9",
        promise="failures are isError with name and hint; unknown tools are protocol errors",
    ),
    Requirement(id="MCP-07", source="002 §23.5", promise="progress through the protocol"),
    Requirement(id="MCP-08", source="002 §23.11", promise="deprecations are warnings in meta"),
    Requirement(id="MCP-09", source="issue MCP", promise="the ledger and the docs are resources"),
    Requirement(id="MCP-10", source="002 §23.3", promise="one session a connection, over every transport"),
    Requirement(id="MCP-11", source="issue faults", promise="malformed messages are answered and harm nobody"),
    Requirement(
        id="REPO-01",
        source="002 §5, §6",
        promise="git's files and untracked ones belong; nothing tracked is lost by a folder's name",
    ),
    Requirement(
        id="REPO-02", source="002 §5.4-5.6", promise="stat, then hash; moves are told; any updates equal a rebuild"
    ),
    Requirement(id="REPO-03", source="002 §5.8", promise="a damaged or old index is remade by itself"),
    Requirement(id="REPO-04", source="design §6", promise="literal and regex hits are ripgrep's, in a stable order"),
    Requirement(
        id="REPO-07",
        source="design §7, 000 §21A",
        promise="epochs are events, status tells of them, a rebuild is an operation within budget",
    ),
    Requirement(
        id="REPO-08",
        source="design §7",
        promise="secrets are neither indexed nor read unless the owner's settings show them",
    ),
    Requirement(
        id="REPO-40",
        source="design §7",
        promise="git-ignored files belong where index.include names them, secrets and our own never",
    ),
    Requirement(id="REPO-05", source="design §6", promise="no answer is wrong in silence when files change outside"),
    Requirement(
        id="REPO-13",
        source="002 §23.7",
        promise="search, read_files and map_repo take arguments in the shapes of the specification and of other tools",
    ),
    Requirement(
        id="REPO-06",
        source="002 §23.7",
        promise="read_files reads ranges of several files, bounded, inside the repository only",
    ),
    Requirement(
        id="IDX-10",
        source="002 §7.3",
        promise="facts follow the text: step by step and at once give the same, and a bad file costs only itself",
    ),
    Requirement(
        id="IDX-10a",
        source="design §9",
        promise="a first build is parsed while it is read, with the same facts in the end",
    ),
    Requirement(
        id="IDX-10b",
        source="design §9",
        promise="the server's threads share one heap, so that none keeps what it once needed, and give its holes back",
    ),
    Requirement(id="IDX-11", source="002 §7.3.11", promise="definitions of earlier epochs are known"),
    Requirement(
        id="RES-01",
        source="002 §7.3.2",
        promise="references are tiered: PROVEN by scope, STRONG by an explicit chain, the rest is not claimed",
    ),
    Requirement(
        id="SRC-10",
        source="002 §23.7",
        promise="search finds definitions, references by tier and symbols by parts of their names, in scopes and pages",
    ),
    Requirement(id="CTX-01", source="002 §8.4.1", promise="the families are a closed list, in one table"),
    Requirement(
        id="CTX-02",
        source="002 §8.4.2",
        promise="each marker makes a root, and one that cannot be read detaches nothing",
    ),
    Requirement(
        id="CTX-03", source="002 §8.4.3", promise="the closest fence decides; what it does not list is detached"
    ),
    Requirement(
        id="CTX-04",
        source="002 §8.4.4",
        promise="inner roots are punched out of outer ones, and odd names are no globs",
    ),
    Requirement(
        id="CTX-05", source="002 §8.4.5", promise="the probe is deterministic and looks at five samples at most"
    ),
    Requirement(
        id="CTX-06", source="002 §8.4.6", promise="a file has one owner in a family, whatever order files come in"
    ),
    Requirement(
        id="CTX-07",
        source="002 §8.9",
        promise="what people write into contexts.yaml is heeded and kept; a broken file is named by line and untouched",
    ),
    Requirement(
        id="CTX-08",
        source="002 §8.4.1",
        promise="when nothing says that contexts changed, discovering again gives the same",
    ),
    Requirement(id="VEC-01", source="000 §5", promise="the same text gives the same vector, offline"),
    Requirement(
        id="VEC-02",
        source="000 §8",
        promise="search among vectors is exact, and a damaged store is started over with the reason",
    ),
    Requirement(id="VEC-03", source="000 §5", promise="chunks cover a file without overlap and are cut at definitions"),
    Requirement(
        id="VEC-04",
        source="000 §23",
        promise="an endpoint is believed only what was checked, and gets no key over plain http",
    ),
    Requirement(
        id="VEC-06",
        source="design §3, §12",
        promise="rooms beside the index find texts near in meaning through one port, with one model for all",
    ),
    Requirement(id="VEC-05", source="000 §14", promise="other models can be installed: model2vec and ONNX"),
    Requirement(
        id="TXT-01",
        source="002 §7.2",
        promise="the epoch commits with the full text, and a crash leaves the last commit",
    ),
    Requirement(id="TXT-02", source="002 §7.2", promise="a broken full text is remade and says why"),
    Requirement(
        id="TXT-03",
        source="design §6",
        promise="an index in which much was replaced is fed again, and ranks as a fresh one does, scores included",
    ),
    Requirement(
        id="RNK-01",
        source="000 §15",
        promise="a question finds its file: definitions and mentioned files first, with reasons and a telling line",
    ),
    Requirement(
        id="RNK-02",
        source="002 §23.7",
        promise="a question in plain English lists few files, source before prose and data, each by a telling line",
    ),
    Requirement(
        id="MAP-01",
        source="002 §23.7",
        promise="map_repo shows a newcomer the repository within a budget, ranked by use and focus, by the index alone",
    ),
    Requirement(
        id="MAP-02",
        source="002 §13.4",
        promise="a folder by size and language, and the definitions that most files use",
    ),
    Requirement(
        id="EXP-01",
        source="design §4",
        promise="explain_symbol says what a symbol is and who uses it, and never guesses between several",
    ),
    Requirement(
        id="EXP-02",
        source="design §9",
        promise="tasks drawn from real commits are played by both policies and scored by what other tools say",
    ),
    Requirement(
        id="RNK-09",
        source="000 §8",
        promise="a ranked score means the same for every question, and that nothing here fits is an answer",
    ),
    Requirement(
        id="RNK-10",
        source="000 §8",
        promise="hybrid and semantic search put copies of an earlier result after what is new (MMR)",
    ),
    Requirement(
        id="RNK-12",
        source="design §6",
        promise="a question finds words in British and in American spelling",
    ),
    Requirement(
        id="RNK-11",
        source="design §6",
        promise="files that earlier commits like the question changed come before others with the same words",
    ),
    Requirement(
        id="EXP-09",
        source="002 §7.8",
        promise="tests of a file are listed by how much they are about it: uses, names and what changed together",
    ),
    Requirement(
        id="NXT-01",
        source="design §4",
        promise="context_for names the files and lines to read next for a diff, a failure or a task, with reasons",
    ),
    Requirement(
        id="NXT-02",
        source="design §4",
        promise="context_for stays within its limit and budget, counts what it left out, and says when nothing fits",
    ),
    Requirement(
        id="DIR-01",
        source="design §6",
        promise="list_dir lists what is indexed, in pages of one state, never git's or CodePlane's own",
    ),
    Requirement(
        id="FCT-01", source="002 §7.8", promise="every fact query is reachable, bounded, and says what it left out"
    ),
    Requirement(
        id="FCT-02", source="002 §7.3.9", promise="anchor groups have true counts and at most ten exemplars, in order"
    ),
    Requirement(id="RDF-10", source="002 §23.7", promise="read_files reads a definition by name or id"),
    Requirement(
        id="IDX-12",
        source="002 §4.2",
        promise="an index is carried to a clone: taken over where contents agree, refused where it does not belong",
    ),
    Requirement(
        id="CLI-10", source="000 §11", promise="cpl search is for people and for pipes, and cpl index carries an index"
    ),
    Requirement(
        id="CTX-09", source="002 §8.4", promise="contexts are shown through the door and follow what people write"
    ),
    Requirement(
        id="FCT-10",
        source="002 §7.3.1",
        promise="what ctags lists is found at its line, and every difference has a reason",
    ),
    Requirement(id="FCT-11", source="002 §7.3.5", promise="every form of import and export is read right"),
    Requirement(id="FCT-12", source="002 §7.3.3", promise="names are bound in their scope"),
    Requirement(id="FCT-13", source="002 §7.5", promise="any bytes give bounded facts inside the file"),
    Requirement(id="FCT-18", source="002 §7.5", promise="valid text that a grammar does not know is read all the same"),
    Requirement(id="FCT-14", source="002 §7.5", promise="each language has a sound table and a sample"),
    Requirement(
        id="RPL-01",
        source="000 §12",
        promise="a recorded session's reads can be asked again, and what they answer differently is told",
    ),
    Requirement(
        id="RES-02",
        source="design §6",
        promise="JavaScript and TypeScript are followed through modules, exports and classes, by tier",
    ),
    Requirement(
        id="RES-03",
        source="design §6",
        promise="no claim across files is made for a language whose modules cannot be found",
    ),
    Requirement(id="RES-04", source="design §6", promise="every whole-word occurrence is looked at, and no other"),
    Requirement(
        id="WSP-01",
        source="000 §3",
        promise="further folders are attached, asked about by name and detached; what is not allowed is refused",
    ),
    Requirement(
        id="WSP-02",
        source="000 §22",
        promise="a remote is cloned without prompts, within a cap, and leaves nothing behind when it fails",
    ),
    Requirement(id="WSP-03", source="design §7", promise="a workspace in use is not taken away under its caller"),
    Requirement(id="WSP-04", source="000 §22", promise="names of workspaces are safe as folders"),
    Requirement(
        id="WSP-05",
        source="000 §22",
        promise="addresses are checked before git sees them, and secrets in them are not told",
    ),
    Requirement(
        id="WSP-06",
        source="design §4",
        promise="a call that names a workspace gets its handler and judgement through the same door",
    ),
    Requirement(
        id="SRC-11",
        source="002 §7.2",
        promise="an expression is matched the same whether or not a text that every match holds is looked for first",
    ),
    Requirement(
        id="SRC-12", source="002 §7.2", promise="names are found by likeness, the most alike first, within bounded work"
    ),
    Requirement(
        id="SRC-13",
        source="002 §23.7",
        promise="scopes take languages by their own, family and short names; what is no language is refused",
    ),
    Requirement(id="SRC-14", source="002 §7.2", promise="a quicker sweep over the text finds what a plain one finds"),
    Requirement(id="IDX-40", source="002 §7.3", promise="facts and their postings come back as they were kept"),
    Requirement(id="RES-40", source="002 §7.3", promise="bindings looked up by name are those of the whole file"),
    Requirement(
        id="RES-42",
        source="002 §7.3",
        promise="files that give a name a value are found once an answer, whoever asks in between",
    ),
    Requirement(
        id="IDX-44",
        source="design §9",
        promise="definitions, what was fed and packed facts are kept in few bytes, and are found as they were parsed",
    ),
    Requirement(
        id="IDX-45",
        source="002 §17",
        promise="facts of an archive are taken only where they can be of the text, and parsed here otherwise",
    ),
    Requirement(
        id="IDX-46", source="design §9", promise="facts of a large index are unpacked before anyone asks, within bounds"
    ),
    Requirement(id="IDX-48", source="design §9", promise="facts are followed while edits come without a pause"),
    Requirement(
        id="RES-43",
        source="002 §7.8",
        promise="references say by which other names their target is known, whose uses are not among them",
    ),
    Requirement(
        id="RES-50",
        source="design §6",
        promise="a member of a language with declared types is that of the type its receiver is declared with",
    ),
    Requirement(
        id="RES-57",
        source="design §6",
        promise="names of C and C++ follow includes, declarations that are one symbol, and the types of receivers",
    ),
    Requirement(
        id="RES-62",
        source="design §6",
        promise="C and C++ are read where the grammar stops: unknown syntax, conditions inside of declarations, macros",
    ),
    Requirement(
        id="RES-41",
        source="002 §7.6",
        promise="what is kept from one answer to the next holds only while the files it speaks of are the same",
    ),
    Requirement(
        id="IDX-41", source="design §6", promise="definitions of a file beyond the bound are left out, and that is said"
    ),
    Requirement(id="IDX-42", source="002 §5.8", promise="damaged vectors are forgotten and made again"),
    Requirement(
        id="IDX-47",
        source="002 §5",
        promise="a file that was written this very moment is read when a later write would leave another stamp",
    ),
    Requirement(
        id="IDX-43",
        source="002 §5.8",
        promise="content cut off or written over under a running server is made again before it is read",
    ),
    Requirement(
        id="SRC-15",
        source="002 §23.7",
        promise="a popular name's references are counted in part, said, and paged in full",
    ),
    Requirement(id="SRC-16", source="002 §23.7", promise="auto takes what is no expression as text and says so"),
    Requirement(id="SRC-17", source="000 §22", promise="names that are not UTF-8 are taken back as they are shown"),
    Requirement(
        id="EXP-10",
        source="issue index",
        promise="paths pick among symbols of one name, and a file is explained by its outline",
    ),
    Requirement(
        id="EDT-01",
        source="002 §9.1, §9.6",
        promise="a batch killed at any step, and again in recovery, is all old or all new",
    ),
    Requirement(
        id="EDT-02",
        source="002 §9.6",
        promise="a full, read-only or foreign disk changes nothing, and others' files are never overwritten",
    ),
    Requirement(
        id="EDT-03",
        source="002 §9.2",
        promise="what is staged, the commit record and the replaced files are durable in that order",
    ),
    Requirement(
        id="EDT-04",
        source="002 §9.2",
        promise="line ends, byte order mark, encoding and final newline stay; forgiving matches are unique",
    ),
    Requirement(
        id="EDT-05", source="002 §9.3", promise="disjoint batches run in parallel, overlapping ones are refused"
    ),
    Requirement(
        id="EDT-06",
        source="002 §9.4-9.5, §23.7",
        promise="write_files applies all edits or none, keeps to its scope and answers with everything",
    ),
    Requirement(
        id="EDT-15",
        source="002 §8.10",
        promise="a tracked file that moves, modified or not, moves in git's index; the answer says what git says",
    ),
    Requirement(
        id="EDT-07",
        source="002 §9.5",
        promise="an edit's answer names changed symbols and the syntax errors it brought",
    ),
    Requirement(
        id="DSK-01",
        source="design §5",
        promise="what is written on disk has the same keys and order whatever fields are called in the code",
    ),
    Requirement(
        id="HSE-01",
        source="design §3",
        promise="every package stands in one order of knowledge without exceptions, no module imports itself through "
        "others, and calls are followed through it",
    ),
    Requirement(
        id="HSE-03",
        source="design §9",
        promise="what is cached in memory is bounded by number or weight, whoever uses it",
    ),
    Requirement(
        id="HSE-02",
        source="design §3",
        promise="what is known of a programming language is in its package; nothing else compares names of languages",
    ),
    Requirement(
        id="DSK-02",
        source="design §5",
        promise="what an earlier version left when it was killed is taken up: edits, git, undo, questions, log, index",
    ),
    Requirement(id="EDT-08", source="002 §9.6", promise="outcomes that a crash kept from the log are recorded once"),
    Requirement(
        id="UND-01", source="002 §9.6", promise="mutations are kept for undo by days and size, and survive a crash"
    ),
    Requirement(
        id="UND-02", source="issue edits", promise="a mutation is taken back only while things are as it left them"
    ),
    Requirement(
        id="UND-03",
        source="002 §13.4",
        promise="a mutation's files are shown before and after it, and what is not kept any more is said",
    ),
    Requirement(
        id="GIT-01",
        source="002 §10, §23.7",
        promise="every reading answer is what git itself says, on random repositories",
    ),
    Requirement(
        id="GIT-02",
        source="002 §23.7",
        promise="status is data and short lines, with state and conflicts in the middle of things",
    ),
    Requirement(
        id="GIT-03", source="002 §23.7", promise="a diff is a patch that git applies, in pages that join to the whole"
    ),
    Requirement(
        id="GIT-04",
        source="002 §10",
        promise="unborn, bare, damaged, foreign and unusual repositories get an answer or a typed error",
    ),
    Requirement(
        id="GIT-05",
        source="002 §10",
        promise="each writing operation leaves the trees, refs, index and status that git leaves",
    ),
    Requirement(
        id="GIT-06", source="002 §10", promise="local git mutations are undone and redone only while things are as left"
    ),
    Requirement(id="GIT-07", source="002 §10", promise="lost work and history stay under refs/codeplane for a while"),
    Requirement(
        id="GIT-08",
        source="002 §10, §23.4",
        promise="risk is judged from the repository as it is, with the loss in the preview",
    ),
    Requirement(
        id="GIT-09",
        source="002 §10",
        promise="bad refs, paths, states and repositories give typed errors, and nothing is written",
    ),
    Requirement(
        id="GIT-10",
        source="002 §10",
        promise="git and its hooks are bounded and ended as a group; nobody is asked, no credentials are told",
    ),
    Requirement(
        id="GIT-11",
        source="002 §23.7",
        promise="conflicts are data, and merges, picks and reverts go on or are given up",
    ),
    Requirement(
        id="GIT-12",
        source="002 §23.7",
        promise="rebases take every kind of step, stop at conflicts and edits, and go on",
    ),
    Requirement(id="GIT-13", source="002 §10", promise="fetch, pull and push talk to configured remotes alone"),
    Requirement(
        id="GIT-14",
        source="002 §10, §23.4",
        promise="submodules and work trees are made, found and removed without losing work unasked",
    ),
    Requirement(
        id="CHK-01",
        source="issue edits",
        promise="checkpoint lints, runs the impacted tests and commits, or stops at the first red",
    ),
    Requirement(
        id="CHK-02",
        source="use: repositories with red tests",
        promise="checkpoint stops only at failures that the last commit does not have, and says what it compared with",
    ),
    Requirement(
        id="TST-31",
        source="use: repositories with red tests",
        promise="test_run and checkpoint on identical files run once; errors and flaky tests run again",
    ),
    Requirement(
        id="TST-35",
        source="002 §9.5, §11",
        promise="the affected tests of an edit are those that test_run takes for its files",
    ),
    Requirement(
        id="TST-33",
        source="002 §11.5",
        promise="a runner that does not start is an error of the run with reason and fix, never failed or passed tests",
    ),
    Requirement(
        id="TST-34",
        source="002 §11.5, §18",
        promise="toolchains are there in the sandbox wherever variables and shims say, their credentials are not",
    ),
    Requirement(
        id="TST-32", source="002 §11.4", promise="a failure without an earlier result is new, and marked as a first run"
    ),
    Requirement(
        id="TST-01",
        source="002 §11.5-11.6",
        promise="runners are found by settings, markers and language, and targets by their rules",
    ),
    Requirement(
        id="TST-30",
        source="002 §13.4",
        promise="tests that go both ways on the same code and environment are flaky, and the slowest are known",
    ),
    Requirement(
        id="TST-02",
        source="002 §11.4",
        promise="targets are packed by their recorded cost and run in parallel, bounded in time",
    ),
    Requirement(
        id="TST-03", source="002 §11.4", promise="reports of every runner become the same cases; bad ones are said"
    ),
    Requirement(
        id="TST-04", source="002 §11.5", promise="pytest, unittest, jest, vitest, node:test and cargo test run for real"
    ),
    Requirement(
        id="TST-05",
        source="design §6",
        promise="tested code sees no secrets, writes the workspace alone and reaches no network",
    ),
    Requirement(
        id="TST-06",
        source="002 §11.4",
        promise="runners that hang, fork, flood, vanish or lie end in a result that says so",
    ),
    Requirement(
        id="TST-07", source="002 §12.3", promise="failures are fingerprinted without what changes from run to run"
    ),
    Requirement(
        id="TST-08", source="002 §7.8, design §7", promise="tests are selected by what they reach, each with its reason"
    ),
    Requirement(
        id="TST-09",
        source="002 §11.5",
        promise="doctor names each project's test runner, and of those that are missing the command that installs them",
    ),
    Requirement(
        id="GIT-20", source="002 §10", promise="what git has done is answered as done, whatever fails in telling of it"
    ),
    Requirement(
        id="GIT-21", source="002 §10", promise="a merge, rebase or pick that was finished is undone as a whole"
    ),
    Requirement(
        id="GIT-22", source="002 §10", promise="what is read of a repository without git is what git says of it"
    ),
    Requirement(id="GIT-23", source="design §9", promise="a question starts few processes"),
    Requirement(
        id="EDT-09",
        source="002 §9.4",
        promise="a folder that others swap for a link leads no edit outside, and shows nothing from there",
    ),
    Requirement(id="TST-10", source="002 §11.4", promise="what changed is found against a commit, by path and line"),
    Requirement(
        id="TST-11", source="002 §23.7", promise="a test that is not there is said to be so, with names like it"
    ),
    Requirement(
        id="REF-01",
        source="002 §8.3, §8.5",
        promise="a refactoring is planned, looked at, applied as one mutation, and undone",
    ),
    Requirement(
        id="REF-02",
        source="002 §8.3",
        promise="a rename of Python finds imports, re-exports, members, stubs and strings by tier",
    ),
    Requirement(
        id="REF-03",
        source="002 §8.3",
        promise="a rename of JavaScript and TypeScript expands shorthand and follows barrels",
    ),
    Requirement(id="REF-04", source="002 §8.3b", promise="other languages are renamed where facts prove it"),
    Requirement(id="REF-40", source="002 §8.5a", promise="a rename is complete or asks back, in every language"),
    Requirement(id="REF-41", source="002 §8.3", promise="what may be in use, by whatever tier, is not deleted"),
    Requirement(
        id="REF-42",
        source="002 §8.3b",
        promise="names of Go packages, paths of Rust and awaited values of Python are followed",
    ),
    Requirement(
        id="REF-43",
        source="002 §8.5a, §8.5c",
        promise="open places are decided with proof, and decisions count again for the same question until forgotten",
    ),
    Requirement(
        id="REF-44",
        source="002 §9.5, §23.7",
        promise="dry runs and plans name affected symbols and tests, and edits of a delta their symbol",
    ),
    Requirement(
        id="REF-05", source="002 §8.5a", promise="an override family is a decision with a whole plan for each answer"
    ),
    Requirement(
        id="REF-06", source="002 §8.2", promise="names that are taken, reserved or not ours are refused with the places"
    ),
    Requirement(id="REF-07", source="issue refactor", promise="a parameter's keyword arguments are renamed with it"),
    Requirement(id="REF-08", source="issue refactor", promise="programs behave after a rename as before it"),
    Requirement(
        id="REF-10", source="002 §8.3, §8.10", promise="files and folders of Python move with their imports, both ways"
    ),
    Requirement(
        id="REF-11",
        source="002 §8.3, §8.10",
        promise="files and folders of JavaScript and TypeScript move with their imports",
    ),
    Requirement(
        id="REF-12", source="002 §23.7", promise="a symbol of Python moves to another module with what it needs"
    ),
    Requirement(
        id="REF-13",
        source="002 §23.7",
        promise="a symbol of JavaScript and TypeScript moves with its imports and exports",
    ),
    Requirement(id="REF-14", source="002 §8.3", promise="what is still used is not deleted unless that is forced"),
    Requirement(
        id="REF-20",
        source="002 §8.11",
        promise="texts are swept with confidence; common words are never changed for occurring",
    ),
    Requirement(
        id="REF-21",
        source="issue refactor",
        promise="code is rewritten by its shape, every match, doubtful ones only proposed",
    ),
    Requirement(
        id="REF-22",
        source="issue refactor",
        promise="code is found by its shape, paged, with captures and typed refusals",
    ),
    Requirement(id="REF-23", source="issue refactor", promise="partial, outdated or failed SCIP indexes are refused"),
    Requirement(id="REF-24", source="issue refactor", promise="SCIP raises a tier only where the text agrees"),
    Requirement(
        id="CMP-01",
        source="002 §23.7",
        promise="semantic_diff compares commits, the work tree and epochs by their definitions",
    ),
    Requirement(id="CMP-02", source="002 §23.7", promise="changes are breaking or not by the rules of their language"),
    Requirement(
        id="CMP-03",
        source="issue refactor",
        promise="semantic_diff reads as Markdown for a pull request, and as `cpl diff --semantic`",
    ),
    Requirement(
        id="REF-15",
        source="002 §8.3",
        promise="comments, line ends, tabs and brackets of import statements stay when they change",
    ),
    Requirement(id="EDT-20", source="issue edits", promise="many replacements of one file are found in one pass"),
    Requirement(
        id="GIT-40",
        source="issue faults",
        promise="kill -9 at any step of a git mutation leaves what git alone would, and is told",
    ),
    Requirement(
        id="GIT-41", source="issue faults", promise="filters and monitors of a submodule's own settings do not run"
    ),
    Requirement(id="TST-20", source="issue edits", promise="what tests keep between runs is bounded"),
    Requirement(id="TRU-20", source="002 §5.4", promise="a file is read once, without following links"),
    Requirement(
        id="SRC-20", source="002 §7.8", promise="what a name means is told by evidence that is read once a file"
    ),
    Requirement(id="SRC-21", source="000 §20", promise="the line that is shown of a file is the one that says most"),
    Requirement(id="PRJ-01", source="issue project", promise="the wheel installs into a clean environment and serves"),
    Requirement(id="PRJ-02", source="house rules", promise="locks are pinned and hashed, and name no index"),
    Requirement(id="PRJ-03", source="issue project", promise="the reference is generated and cannot drift"),
    Requirement(
        id="TRUST-10",
        source="003 §8.4, 001 §3.6",
        promise="a person decides once, by a deterministic preview; waiting, pending answers, expiry, trust, rejection",
    ),
    Requirement(
        id="TRUST-11",
        source="003 §8.4",
        promise="killed between any two steps, an approved action runs once or is shown as unknown",
    ),
    Requirement(
        id="TRUST-12",
        source="001 §3.6",
        promise="an MCP client that can show questions asks its person, in both eras of the protocol",
    ),
    Requirement(
        id="TRUST-13",
        source="004 Step 05, 003 §8.4-8.5",
        promise="the shipped policy: modes, and shell commands always ask",
    ),
    Requirement(id="TRUST-14", source="004 Step 05", promise="own rules are weighed as the guide says"),
    Requirement(
        id="TRUST-15", source="004 Step 05", promise="errors, timeouts, nonsense and missing builtins in a policy deny"
    ),
    Requirement(
        id="TRUST-16",
        source="004 Step 05",
        promise="the last good policy is kept when a new one is broken, and that is shouted",
    ),
    Requirement(id="TRUST-17", source="003 §8.6", promise="policies can be checked and decisions explained"),
    Requirement(id="TRUST-20", source="003 §8.10", promise="pairing codes are short-lived, used once and rate-limited"),
    Requirement(
        id="TRUST-21",
        source="003 §8.10",
        promise="devices hold leased, rotated, revocable tokens; revocation ends calls and streams",
    ),
    Requirement(
        id="TRUST-22",
        source="001 §5.1",
        promise="agents' tokens are verified strictly, exchanged for sessions, revoked; keys rotate",
    ),
    Requirement(
        id="TRUST-23",
        source="003 §4, design §7",
        promise="beyond loopback only with TLS and tokens; certificates, mTLS",
    ),
    Requirement(
        id="TRUST-24",
        source="003 §8.10",
        promise="secrets at rest are sealed, closed to others and never replaced in silence",
    ),
    Requirement(
        id="TRUST-25",
        source="001 §3.6, §5.2",
        promise="capabilities are requested, granted, bounded by tools and time, and revoked",
    ),
    Requirement(
        id="TRUST-26", source="001 §3.6, 000 §10", promise="no way of writing a path gets around a grant's bounds"
    ),
    Requirement(
        id="TRUST-27",
        source="003 §8.7, §9",
        promise="what was changed, refused and decided can be looked up and exported",
    ),
    Requirement(id="TRUST-28", source="003 §8.13", promise="notifications with read state"),
    Requirement(
        id="TRUST-29",
        source="003 §4, 000 §23",
        promise="known shapes of secrets are left out of events, logs, previews and answers",
    ),
    Requirement(
        id="TRUST-50",
        source="design §6, 000 §23",
        promise="secrets files are empty in every sandbox, unless tests.secrets names them for tests",
    ),
    Requirement(
        id="TRUST-51",
        source="design §6, 000 §23",
        promise="the values of secrets files are left out of answers, and never ordinary words",
    ),
    Requirement(
        id="TRUST-53",
        source="design §6, 000 §23",
        promise="a secrets file that an agent wrote hides nothing from people, displaces no value and stops nothing",
    ),
    Requirement(
        id="TRUST-52", source="design §6, 000 §23", promise="no agent moves a secrets file or has git store it"
    ),
    Requirement(
        id="TRUST-30",
        source="003 §8.5",
        promise="a shell command is checked, shown completely and asked about before it runs",
    ),
    Requirement(
        id="TRUST-31",
        source="003 §8.3",
        promise="its output is in offset order, streams apart, bounded, and that is said",
    ),
    Requirement(
        id="TRUST-32",
        source="003 §8.5",
        promise="it sees no secrets, plants no hooks, reaches no network, and ends with all it started",
    ),
    Requirement(
        id="TRUST-48",
        source="002 §6",
        promise="hooks, filters and repositories that agents can write reach neither `.codeplane/` nor what git runs, "
        "and leave nothing behind that runs outside of an enclosure",
    ),
    Requirement(
        id="TRUST-66",
        source="threat model",
        promise="git itself writes no `.codeplane/`, whatever a hook or filter does in the middle of its command",
    ),
    Requirement(
        id="TRUST-67",
        source="threat model",
        promise="secrets files, `.codeplane/`, `.git/` and `.cplignore` are guarded under every name that a disk takes "
        "for theirs: without case, with characters, dots, spaces or streams that it leaves out, or short",
    ),
    Requirement(
        id="TRUST-68",
        source="threat model",
        promise="git reads and writes nothing outside of the work tree when a folder in it is swapped for a link "
        "in the middle of a command",
    ),
    Requirement(
        id="TRUST-33",
        source="003 §8.5",
        promise="only public, pinned addresses are fetched, each redirect checked again, within bounds",
    ),
    Requirement(
        id="TRUST-65",
        source="003 §8.5",
        promise="a fetched page is read as text with its links, however broken, in work that grows with the page",
    ),
    Requirement(
        id="TRUST-34",
        source="003 §8.4, §8.5",
        promise="what the web says is marked as untrusted and recorded on its task",
    ),
    Requirement(
        id="TRUST-61",
        source="threat model",
        promise="an answer through an MCP client counts only with the secret that the owner made for it, never for "
        "shell commands, what destroys, or outward calls after untrusted content; else the client is not asked",
    ),
    Requirement(
        id="TRUST-62",
        source="first use",
        promise="people read of a push, not of a risk class; equal outward calls that wait ask once; plurals are right",
    ),
    Requirement(
        id="TRUST-60",
        source="threat model",
        promise="after untrusted content each outward call of whoever read it asks a person, whatever is remembered, "
        "set or ruled, across restarts, names and tokens, until the owner clears the mark",
    ),
    Requirement(
        id="TRUST-63",
        source="threat model",
        promise="after untrusted content hooks and filters of git have no network, and none is given while one has it; "
        "where that cannot be taken away, a git mutation that may run one asks a person",
    ),
    Requirement(
        id="TRUST-64",
        source="threat model",
        promise="false tokens cannot fill the log: some are recorded a minute, the rest as one event with their number",
    ),
    Requirement(
        id="EXT-01",
        source="design §10",
        promise="operations of JSON Schemas come and go at run time, through the same door; bad schemas are refused",
    ),
    Requirement(id="EXT-02", source="design §10, MCP", promise="MCP clients hear when tools come and go"),
    Requirement(
        id="RPC-01",
        source="003 §5, §7",
        promise="the services of the protos over Connect and gRPC-Web, with outside clients",
    ),
    Requirement(id="RPC-02", source="003 §11.8", promise="calls and streams refuse without exactly one good token"),
    Requirement(
        id="RPC-03", source="003 §6", promise="watching: exclusive lower bound, heartbeat, a gap and then the end"
    ),
    Requirement(id="RPC-04", source="003 §8.10", promise="revocation ends open streams of the typed client"),
    Requirement(
        id="RPC-05",
        source="001 §3.1, 003",
        promise="the same services over gRPC, with reflection, health and the rule of binding",
    ),
    Requirement(
        id="RPC-06",
        source="003 §11.8",
        promise="the protos are linted and stay compatible; generated code is that of the protos",
    ),
    Requirement(
        id="RPC-07",
        source="003 §8.10",
        promise="the typed client gives envelopes, pages and streams, raises our errors, and imports nothing slow",
    ),
    Requirement(
        id="RPC-08",
        source="003 §6, design §10",
        promise="typed streams over Connect, gRPC-Web and gRPC: the same items and errors; a slow reader is bounded",
    ),
    Requirement(
        id="RPC-09",
        source="design §4",
        promise="streams of calls over gRPC, answered as they are ready or at the end, bounded, each through the door",
    ),
    Requirement(
        id="RPC-10",
        source="design §12, 003 §7",
        promise="messages of several proto packages with maps, numbers, bytes, enums and nested messages, both ways",
    ),
    Requirement(
        id="RPC-11",
        source="003 §8.4, design §4",
        promise="progress as items of a stream, and how long a person is waited for, are the caller's to ask for",
    ),
    Requirement(id="CMP-10", source="002 §23.7", promise="impact is bounded by work and says where it stopped"),
    Requirement(
        id="CMP-11",
        source="002 §23.7",
        promise="overloads, fields, bases, generators and moves are judged by their meaning",
    ),
    Requirement(
        id="CMP-12",
        source="002 §23.7",
        promise="where a manifest lists what a package exports, only what that reaches can be called breaking",
    ),
    Requirement(
        id="REF-30",
        source="002 §8.11",
        promise="paths in documentation follow a move; a shown block changes as a whole",
    ),
    Requirement(id="REF-31", source="002 §8.5", promise="a blocked plan names what changed"),
    Requirement(
        id="REF-32",
        source="002 §8",
        promise="a receiver's class is sure only when every assignment that can be seen agrees",
    ),
    Requirement(id="REF-33", source="002 §8", promise="imported indexes are kept and dropped by content"),
    Requirement(
        id="TRUST-35",
        source="003 §8.4, 001 §5",
        promise="every refusal of a long table holds over every surface, and each has its passing twin",
    ),
    Requirement(
        id="TRUST-36",
        source="003 §8.4",
        promise="an approval of git is of exactly these commits, addresses and contents",
    ),
    Requirement(
        id="TRUST-37",
        source="003 §8.4",
        promise="whoever approves a write sees its diff, and it is not made over a changed file",
    ),
    Requirement(id="TRUST-38", source="003 §8.4", promise="refactorings are shown by plan, files and diff"),
    Requirement(
        id="TRUST-39",
        source="003 §8.4",
        promise="a folder is shown by its real path, a clone by address, branch and folder",
    ),
    Requirement(id="TRUST-40", source="003 §8.4", promise="runs and checkpoints show commands, folder and message"),
    Requirement(
        id="TRUST-42",
        source="003 §8.4",
        promise="an undo or redo shows the diff of what it takes back, and takes back exactly that",
    ),
    Requirement(
        id="TRUST-43",
        source="003 §8.4",
        promise="an approved push sends the objects that were shown, whatever moved since",
    ),
    Requirement(
        id="TRUST-44",
        source="003 §8.4, 002 §5",
        promise="more budget than a person or the settings gave is asked for; less is free",
    ),
    Requirement(
        id="TRUST-45", source="001 §5.1, §5.2", promise="an agent starts no more agents than its token and grants allow"
    ),
    Requirement(
        id="TRUST-46",
        source="003 §8.4",
        promise="a write without a preview of its own is shown by its arguments, in words that cannot mislead",
    ),
    Requirement(
        id="TRUST-47", source="003 §8.3", promise="an idempotency key is its caller's own, and older logs keep theirs"
    ),
    Requirement(
        id="TRUST-49",
        source="design §12",
        promise="rules about resources hold for lists, by one evaluation, and for ids given in part",
    ),
    Requirement(id="TRUST-41", source="003 §8.4", promise="everything grave or judged has a preview of its own"),
    Requirement(
        id="IDX-20", source="002 §7.6", promise="symbols of an edited file answer before its full text is committed"
    ),
    Requirement(
        id="OBS-10", source="002 §13.3", promise="every call's stages and inner work are timed, and shown as a tree"
    ),
    Requirement(
        id="OBS-11",
        source="002 §13.4",
        promise="traces are exported bounded and redacted, and what is dropped is counted",
    ),
    Requirement(
        id="OBS-12",
        source="002 §13.3, 003 §11.6",
        promise="metrics of health, convergence, trust and streams, with bounded labels",
    ),
    Requirement(id="OBS-13", source="002 §13.4", promise="the shipped dashboard and rules name metrics that exist"),
    Requirement(
        id="OBS-14",
        source="001 §3.8",
        promise="events over a WebSocket: token, origin, resume, revocation, slow readers",
    ),
    Requirement(
        id="CLI-20",
        source="design §8",
        promise="doctor names failures with their fixes; the first index shows how far it is",
    ),
    Requirement(
        id="CLI-21",
        source="002 §13.4",
        promise="a recorded agent session plays against a sample, decided by a person or itself, and leaves nothing",
    ),
    Requirement(id="CLI-23", source="002 §4.2", promise="commands that are printed can be pasted where they are read"),
    Requirement(
        id="FCT-15",
        source="design §9",
        promise="a pattern that needs a rare word is tried only where it stands, and finds the same",
    ),
    Requirement(
        id="REF-34",
        source="design §6",
        promise="a member's rename applies where all that is written agrees on the receiver, and is proposed elsewhere",
    ),
    Requirement(
        id="REF-36", source="design §6", promise="a word that is a keyword at some places refers to nothing there"
    ),
    Requirement(
        id="REF-35",
        source="002 §8.1",
        promise="a rename at an alias means the alias; names that a file binds again, or by a star, are told apart",
    ),
    Requirement(
        id="WEB-01",
        source="002 §13.4",
        promise="a one-time link signs in; strict cookie, form token, expiry, revocation",
    ),
    Requirement(
        id="WEB-02",
        source="002 §13.4, §23.8",
        promise="every page with data and without, readable at 380 px, no request beyond the origin",
    ),
    Requirement(
        id="WEB-03",
        source="002 §13.3-13.4",
        promise="calls as groups, filtered, paged, the dashboard's own reads left out",
    ),
    Requirement(
        id="WEB-04", source="003 §10", promise="live pages resume without loss or repeats, also over a restart"
    ),
    Requirement(
        id="WEB-05", source="003 §10", promise="decisions in the dashboard are bound to what was shown, and made once"
    ),
    Requirement(id="WEB-06", source="002 §13.2", promise="vendored scripts are pinned and come with their licences"),
    Requirement(
        id="DOCS-01",
        source="002 §23.8",
        promise="every command in the documents is run as it stands there; what is not is listed with its reason",
    ),
    Requirement(
        id="DOCS-02",
        source="002 §23.8",
        promise="settings, rules and data shown in the documents can be used as they stand",
    ),
    Requirement(
        id="DOCS-03",
        source="002 §23.8",
        promise="no link between documents is dead, and every document can be reached from the README",
    ),
    Requirement(
        id="DOCS-04",
        source="002 §23.8",
        promise="commands, operations, settings and errors that sentences name are there; trouble.md has every error",
    ),
    Requirement(
        id="DOCS-05",
        source="002 §13.4",
        promise="the tests in a real browser are part of all tests, in a process of their own, each told by itself",
    ),
    Requirement(
        id="DOCS-06",
        source="002 §13.4",
        promise="servers and commands that tests fork from a warm process behave as ones that are started, and "
        "repositories that they make are as git makes them",
    ),
    Requirement(
        id="CLI-22",
        source="002 §13.4",
        promise="cpl doctor looks around the repository: git, processes, clients, attached folders, open questions",
    ),
    Requirement(
        id="CLI-24",
        source="002 §4.2",
        promise="cpl doctor answers with the server down, up and hung, and everything is ok in a healthy repository",
    ),
    Requirement(
        id="MODEL-01",
        source="003 §8.14, design §10",
        promise="a model call streams, is retried and falls back in one place, within bounds of time, size and rate",
    ),
    Requirement(
        id="MODEL-02",
        source="000 §23, design §10",
        promise="only models on the owner's list are asked, other machines only where the owner allows it",
    ),
    Requirement(
        id="MODEL-03",
        source="000 §23",
        promise="prompts and keys are in no log, trace, error or file of CodePlane; traces have hashes and sizes",
    ),
    Requirement(
        id="MODEL-04",
        source="003 §8.14",
        promise="what models cost is counted by turn, thread and day, and a ceiling refuses further calls",
    ),
    Requirement(
        id="MODEL-05",
        source="003 §8.14",
        promise="OpenAI's chat completions, with the quirks of its many servers, and Anthropic's messages are spoken",
    ),
    Requirement(
        id="MODEL-06",
        source="003 §8.2",
        promise="reasoning is shown as the provider's summary or by its length; raw only where the owner allows it",
    ),
    Requirement(
        id="MODEL-07",
        source="003 §8.14",
        promise="cpl models lists, explains, tests, adds and removes models, and keeps their keys sealed",
    ),
    Requirement(
        id="ARTIFACT-01",
        source="003 §8.11",
        promise="artifacts are bounded, sealed, seen by people and their makers, kept for 90 days, and mark who reads "
        "what was made after untrusted content",
    ),
    Requirement(
        id="ARTIFACT-02",
        source="003 §8.11",
        promise="the dashboard shows artifacts as text, Markdown, diff or picture, and runs nothing of them",
    ),
    Requirement(
        id="ARTIFACT-03",
        source="003 §8.11",
        promise="cpl artifacts keeps files of up to 8 MB, gives back their exact bytes, and leaves no half of one",
    ),
    Requirement(
        id="EXR-01",
        source="000 §4, §6, §7, §18, §24",
        promise="an exploration streams its plan, commands and typed results from a cursor and ends in a summary",
    ),
    Requirement(
        id="EXR-02",
        source="000 §18, §19",
        promise="operations run by priority then order within bounds; cancelled ones take their dependents with them",
    ),
    Requirement(
        id="EXR-03",
        source="000 §4, issue 22",
        promise="entry points are the commands, programs and library fronts of a repository, in its own language",
    ),
    Requirement(
        id="EXR-04",
        source="000 §12, §18",
        promise="an exploration is replayed against its commit; every difference is explained by a changed file",
    ),
    Requirement(
        id="EXR-05",
        source="000 §19, §20, §24, issue 22",
        promise="explorations end well without commits, files or index, aborted, killed or out of time, and say so",
    ),
    Requirement(
        id="EXR-06",
        source="000 §2, issue 22",
        promise="the Python client streams explorations as typed events, each once over lost connections",
    ),
    Requirement(
        id="EXR-07",
        source="000 §4, issue 22",
        promise="the page Explore starts explorations, shows their plan growing and draws their summary",
    ),
    Requirement(
        id="EXR-08",
        source="000 §7, §10, §25",
        promise="a model plans while it writes, where the policy allows it; without one the rules go on alone",
    ),
    Requirement(
        id="EXR-09",
        source="000 §13, §20, §22, §28",
        promise="explorations give their golden traces again; results are typed and bounded, and follow no links out",
    ),
    Requirement(
        id="EXR-10",
        source="000 §4, issue 22",
        promise="cpl explore shows an exploration as it goes, and its summary as text, Markdown and events",
    ),
    Requirement(
        id="MEMORY-01",
        source="003 §8.11",
        promise="what a thread remembers can be read, and written by people alone; later turns are shown it",
    ),
    Requirement(
        id="SKILL-01",
        source="003 §8.12",
        promise="skills in the public SKILL.md format are found in the repository and at home, bounded, without links",
    ),
    Requirement(
        id="SKILL-02",
        source="003 §8.12",
        promise="a turn is given a skill only when it is chosen and trusted by its hash; a skill only narrows tools",
    ),
    Requirement(
        id="SKILL-03",
        source="003 §8.12",
        promise="people see, trust and distrust skills, and decide proposals, at the terminal and in the browser",
    ),
    Requirement(
        id="PROPOSAL-01",
        source="003 §8.12",
        promise="skills, policies, grants, schedules, budgets can be proposed; none holds until the owner applies it",
    ),
    Requirement(
        id="MCX-01",
        source="003 §10; SEP-2663",
        promise="a long call of a client that declares tasks is a task, over restarts too, and its caller's alone",
    ),
    Requirement(
        id="MCX-02",
        source="003 §10; MCP Apps",
        promise="approvals and diffs have views in clients that show them; a view decides what an elicitation may",
    ),
    Requirement(
        id="MCX-03",
        source="003 §10; issue 21",
        promise="what an outside server does, asks or changes ends no caller; changes of its tools reach our clients",
    ),
    Requirement(
        id="MCX-04",
        source="003 §8.9; issue 21",
        promise="bounds of work and proposals hold for calls at the same moment; those of one agent keep no other out",
    ),
    Requirement(
        id="NOTIFY-01",
        source="003 §8.13",
        promise="a person is reached by a command or webhook of their own settings, once allowed, and not too often",
    ),
    Requirement(
        id="ACP-01",
        source="issue 22, design §11",
        promise="cpl acp carries stdio to a WebSocket of the server, which it finds or starts, importing nothing slow",
    ),
    Requirement(
        id="ACP-02",
        source="issue 22",
        promise="JSON-RPC in both directions: repeated ids, floods and what is no message are refused, nothing is lost",
    ),
    Requirement(
        id="ACP-03",
        source="design §11, 000 §23",
        promise="whoever speaks ACP is an agent, also with the owner's token; other accounts need a token of their own",
    ),
    Requirement(
        id="LSP-01",
        source="design §14",
        promise="what the name at a place means is answered with ranges and certainty, in five languages, or why not",
    ),
    Requirement(
        id="LSP-02",
        source="design §14",
        promise="references to a place come as they are found, aliases included, and say when they are not all",
    ),
    Requirement(
        id="LSP-03",
        source="design §14",
        promise="open documents stand in place of their files for the question that sends them, and nobody else",
    ),
    Requirement(
        id="LSP-04",
        source="001 §3.2",
        promise="`cpl lsp` serves the Language Server Protocol 3.17 to editors, in the position encoding they ask for",
    ),
    Requirement(
        id="LSP-05",
        source="issue 23",
        promise="an editor outlives its server, sees its own text alone, and no document or request breaks another",
    ),
    Requirement(
        id="ACP-04",
        source="issue 22, ACP v1",
        promise="the handshake comes first and once; another version is answered with the one that is spoken",
    ),
    Requirement(
        id="ACP-05",
        source="issue 22, design §11",
        promise="an ACP session is a thread: new, load, resume by cursor, list, close; two clients see the same",
    ),
    Requirement(
        id="ACP-06",
        source="issue 22, ACP v1",
        promise="a prompt is a turn: text, thoughts, tools, diffs, plans, usage; every update before the response",
    ),
    Requirement(
        id="ACP-07",
        source="issue 22, decision 18",
        promise="a permission request is an approval: asked in clients the owner allowed, decided once, anywhere",
    ),
    Requirement(
        id="LSP-06",
        source="issue 23",
        promise="folds, selections, syntax errors and kinds of names of a file are answered, over open documents too",
    ),
    Requirement(
        id="LSP-07",
        source="design §14",
        promise="a rename is applied by the editor or by the journal, never by both; uncertain places are confirmed",
    ),
    Requirement(
        id="LSP-08",
        source="001 §3.2, §9",
        promise="editors ask questions, run tasks with progress and answer approvals, as agents of the owner",
    ),
    Requirement(
        id="ACP-08",
        source="issue 22",
        promise="third-party clients drive it: acpx and its 20 cases, the protocol's SDKs for Node and for Python",
    ),
    Requirement(
        id="ACP-09",
        source="issue 22, design §10",
        promise="connections that are lost at any moment cost no update, and bring none twice",
    ),
    Requirement(
        id="ACP-10",
        source="issue 22",
        promise="cpl init registers the agent with Zed, keeping what is there; each editor's way of starting it works",
    ),
    Requirement(
        id="ACP-11",
        source="issue 22, ACP v2 draft",
        promise="the draft of version 2 is spoken where it is offered and asked for: idle is the end of a turn",
    ),
    Requirement(
        id="LSP-09",
        source="issue 23",
        promise="Neovim, vscode-languageserver-protocol and the extension of VS Code work with it as they are",
    ),
    Requirement(
        id="ACP-12",
        source="000 §9, §17, §20, §23, §26, §28",
        promise="the dialect 0.2.1 on the same path: its frames, searches and spans as tool calls, its error codes",
    ),
    Requirement(
        id="ACP-13",
        source="issue 22",
        promise="the entry for the ACP registry is as its schema wants it, and starts a command that the package has",
    ),
    Requirement(
        id="ACP-15",
        source="000 §21A, §28",
        promise="who subscribes to the index in the dialect 0.2.1 gets its state and a rebuild's progress",
    ),
    Requirement(
        id="ACP-16",
        source="000 §6.2, §10, §23",
        promise="llm.call in the dialect 0.2.1: all its fields, under policy, one question at a time in a session",
    ),
    Requirement(
        id="ACP-14",
        source="000 §4, §9, §17-§19, §28",
        promise="explorations in the dialect 0.2.1: snapshots as plans, operations as tool calls, then the summary",
    ),
    Requirement(
        id="ACP-17",
        source="issue 22, decision 35",
        promise="MCP servers of a client start when the owner agrees, enclosed, for its session alone, and end with it",
    ),
    Requirement(
        id="ACP-18",
        source="issue 22, ACP v1",
        promise="unsaved text of linked files is read from an editor that offers it, shown as such, and of no others",
    ),
    Requirement(
        id="ACP-19",
        source="issue 22",
        promise="an ACP client gives its sessions to an outside agent by name, and sees its plan, tools and problems",
    ),
)

_IDS = frozenset(row.id for row in REQUIREMENTS)
