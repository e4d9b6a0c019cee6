"""Threads: conversations, and one of them with what its turns say, do and ask while they do."""

from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument, StreamGap
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.diff_view import split_preview
from codeplane.surfaces.web.json_fields import get_field, get_number, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.thread_blocks import Block, ThreadBlocks

_MESSAGES = 40
_EVENTS, _PAGES = 2000, 5
_DECISIONS = {"approve": "approval.approve", "reject": "approval.reject"}


async def page(request: PageRequest) -> Response:
    """Render the conversations, with search and a field to begin one."""
    asked: JsonObject = {"limit": 20, "archived": "archived" in request.query}
    asked |= {"query": request.query["q"]} if "q" in request.query else {}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    listed = await request.call("thread.list", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    agents = await request.call("acp_agent.list", {})
    return request.render(
        "threads.html",
        agents=get_objects(agents, "agents"),
        title="Threads",
        pending=waiting["pending"],
        threads=get_objects(listed, "results"),
        next_cursor=get_field(listed, "pagination", "next_cursor"),
    )


async def begin(request: PageRequest) -> Response:
    """Begin a conversation with its first message."""
    form = await request.form()
    created = await request.call("thread.create", {"agent": form["agent"]} if form.get("agent") else {})
    return await _send(request, get_text(created, "thread_id"), form)


async def show(request: PageRequest) -> Response:
    """Render one conversation as far back as its newest messages; it follows what happens."""
    thread_id = request.path_param("thread")
    asked: JsonObject = {"thread_id": thread_id, "page_size": _MESSAGES}
    if request.query.get("before", "").isdecimal():
        asked["page_token"] = request.query["before"]
    thread = await request.call("thread.show", {"thread_id": thread_id})
    messages = await request.call("thread.messages", asked)
    items = get_objects(messages, "items")
    first = int(get_number(items[0], "sequence") or 1) - 1 if items else 0
    until = int(request.query["before"]) if "page_token" in asked else None
    blocks = await _fold(request, thread_id, first, until)
    memory = await request.call("memory.show", {"thread_id": thread_id})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "thread.html",
        title=get_text(thread, "title") or "Thread",
        pending=waiting["pending"],
        thread=thread,
        memory=memory,
        blocks=blocks.blocks,
        running=blocks.running,
        after=blocks.last_sequence,
        is_newest=until is None,
        older=get_text(messages, "next_page_token"),
    )


async def act(request: PageRequest) -> Response:
    """Send a message, stop the turn, decide a question, take a turn back, write its memory, or put the thread away."""
    form, thread_id = await request.form(), request.path_param("thread")
    verb = form.get("verb", "")
    if verb == "send":
        return await _send(request, thread_id, form)
    if verb == "stop":
        await request.call("turn.cancel", {"turn_id": form.get("turn_id", ""), "reason": "stopped on the dashboard"})
    elif verb == "undo":
        await request.call("turn.undo", {"turn_id": form.get("turn_id", "")})
    elif verb in ("apply", "discard"):
        await request.call(f"thread.{verb}", {"thread_id": thread_id})
    elif verb == "remember":
        await request.call("memory.write", {"thread_id": thread_id, "text": form.get("memory", "")})
    elif verb in ("archive", "restore"):
        await request.call("thread.archive", {"thread_id": thread_id, "archived": verb == "archive"})
        return request.redirect("/dashboard/threads")
    elif verb in _DECISIONS:
        decided: JsonObject = {"action_id": form.get("action_id", ""), "reason": form.get("reason", "")}
        if verb == "approve":
            decided["preview_hash"] = form.get("preview_hash", "")
        await request.call(_DECISIONS[verb], decided)
    else:
        raise InvalidArgument("nothing was chosen", hint="go back and use one of the buttons")
    return request.redirect(f"/dashboard/threads/{quote(thread_id)}#end")


async def diff(request: PageRequest) -> Response:
    """Render what the outside agent of a conversation changed, to apply or discard it."""
    thread_id = request.path_param("thread")
    thread = await request.call("thread.show", {"thread_id": thread_id})
    changes = await request.call("thread.diff", {"thread_id": thread_id})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "thread_diff.html",
        title=f"What {get_text(thread, 'agent')} changed",
        pending=waiting["pending"],
        thread=thread,
        changes=changes,
        diff_lines=split_preview(get_text(changes, "diff")),
    )


async def folded_until(request: PageRequest, thread_id: str, after: int) -> ThreadBlocks:
    """The blocks of a thread as a page that has seen everything up to a sequence shows them."""
    thread = await request.call("thread.messages", {"thread_id": thread_id, "page_size": _MESSAGES})
    items = get_objects(thread, "items")
    first = int(get_number(items[0], "sequence") or 1) - 1 if items else 0
    blocks = await _fold(request, thread_id, min(first, after), after)
    # A page that was open for long has seen more than is folded here.
    blocks.last_sequence = max(blocks.last_sequence, after)
    return blocks


async def _fold(request: PageRequest, thread_id: str, first: int, until: int | None) -> ThreadBlocks:
    """Fold the events after a sequence, up to another one."""
    blocks = ThreadBlocks()
    blocks.last_sequence = first
    for _ in range(_PAGES):
        try:
            page = await request.call(
                "thread.events", {"thread_id": thread_id, "from_sequence": blocks.last_sequence, "limit": _EVENTS}
            )
        except StreamGap as gap:
            # Retention has dropped the beginning; messages that are left come with what is left.
            blocks.last_sequence = int(get_number(gap.details, "first_available") or 1) - 1
            continue
        events = get_objects(page, "events")
        for event in events:
            if until is not None and int(get_number(event, "sequence") or 0) > until:
                return blocks
            blocks.take(event)
        if blocks.last_sequence >= int(get_number(page, "last_sequence") or 0) or not events:
            break
    return blocks


async def _send(request: PageRequest, thread_id: str, form: dict[str, str]) -> Response:
    sent: JsonObject = {"thread_id": thread_id, "user_text": form.get("text", "")}
    if form.get("queue_mode"):
        sent["queue_mode"] = form["queue_mode"]
    await request.call("turn.send", sent)
    return request.redirect(f"/dashboard/threads/{quote(thread_id)}#end")


def render_block(request: PageRequest, thread_id: str, block: Block) -> str:
    """One block as the page has it."""
    return request.render_text("thread_block.html", block=block, thread_id=thread_id, fresh=True)


ROUTES = (
    ("GET", "/dashboard/threads", page),
    ("POST", "/dashboard/threads", begin),
    ("GET", "/dashboard/threads/{thread}", show),
    ("POST", "/dashboard/threads/{thread}", act),
    ("GET", "/dashboard/threads/{thread}/diff", diff),
)
