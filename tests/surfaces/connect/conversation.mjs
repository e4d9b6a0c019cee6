// A conversation as a program on Node would hold it, which knows the specification of the protocol and nothing else.
// Arguments: the address, the owner's token, the form. Prints one JSON object a step.
import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { ThreadsService as OurThreads } from "./gen/codeplane/v1/threads_pb.js";
import { TurnsService as OurTurns } from "./gen/codeplane/v1/turns_pb.js";
import {
  EventsService,
  QueueMode,
  ThreadsService,
  TriggerType,
  TurnsService,
} from "./spec/gen/codeplane/v1/streaming_pb.js";

const [baseUrl, token, form] = process.argv.slice(2);
const say = (step, found) => console.log(JSON.stringify({ step, ...found }));
const bearer = (next) => (request) => {
  request.header.set("authorization", `Bearer ${token}`);
  return next(request);
};
const options = { baseUrl, httpVersion: "1.1", interceptors: [bearer] };
const transport =
  form === "grpc"
    ? createGrpcTransport({ ...options, httpVersion: "2" })
    : form === "grpcweb"
      ? createGrpcWebTransport(options)
      : createConnectTransport({ ...options, useBinaryFormat: form === "binary" });
const client = (service) => createClient(service, transport);
const threads = client(ThreadsService);
const turns = client(TurnsService);
const collect = async (stream, isLast = () => false) => {
  const events = [];
  for await (const event of stream) {
    if (event.payload.case === "heartbeat") continue;
    events.push(event);
    if (isLast(event)) break;
  }
  return events;
};
const refused = async (stream) => {
  try {
    await collect(stream);
    return { code: "none" };
  } catch (error) {
    return { code: Code[ConnectError.from(error).code] };
  }
};
const numbers = (events) => events.map((event) => Number(event.sequence));
const cases = (events) => events.map((event) => event.payload.case).filter(Boolean);

const { threadId, lastSequence } = await threads.createThread({});
say("created", { last: Number(lastSequence) });
let ends = 0;
const isSecondEnd = (event) => event.payload.case === "turnCompleted" && ++ends === 2;
const leaving = new AbortController();
const watch = client(EventsService).watchThread({ threadId, fromSequence: lastSequence }, { signal: leaving.signal });
const watching = collect(watch, isSecondEnd);

const asked = { threadId, userText: "greet", clientMessageId: "first", requestedBudget: { maxToolSteps: 3 } };
const first = await collect(turns.startTurn(asked));
say("started", { sequences: numbers(first), cases: cases(first), turns: new Set(first.map((event) => event.turnId)).size });
const again = await collect(turns.startTurn({ ...asked, resumeFromSequence: first[2].sequence }));
say("attached", { sequences: numbers(again) });
const budget = first.find((event) => event.payload.case === "turnBudgetApplied").payload.value.effectiveBudget;
say("budget", { steps: budget.maxToolSteps });

const sent = await turns.sendTurn({
  threadId,
  userText: "greet me once more",
  clientMessageId: "second",
  queueMode: QueueMode.QUEUE_AFTER_TURN,
});
const watched = await watching;
// A stream that is not read to its end keeps the process alive.
leaving.abort();
say("watched", { sequences: numbers(watched), sameEnd: watched.at(-1).turnId === sent.turnId });
const ended = await turns.sendTurn({ threadId, userText: "greet me once more", clientMessageId: "second" });
say("sent", { same: ended.turnId === sent.turnId, status: ended.status, answers: ended.assistantMessage.length > 0 });

const snapshot = await threads.getThreadSnapshot({ threadId });
say("snapshot", {
  roles: snapshot.messages.map((message) => message.role),
  last: Number(snapshot.lastSequence),
  answeredBy: snapshot.messages.at(-1).metadata?.answered_by,
});
const pages = [];
let pageToken = "";
do {
  const page = await threads.listThreadMessages({ threadId, pageSize: 3, pageToken });
  pages.unshift(page.items.map((message) => message.messageId));
  pageToken = page.nextPageToken;
} while (pageToken);
const ids = snapshot.messages.map((message) => message.messageId);
say("pages", { sizes: pages.map((page) => page.length), same: JSON.stringify(pages.flat()) === JSON.stringify(ids) });

const claimed = { threadId, userText: "x", triggerType: TriggerType.SCHEDULE_WAKEUP };
say("claimed", await refused(turns.startTurn(claimed)));
say("nowhere", await refused(client(EventsService).watchThread({ threadId: "thr_none" })));
const listed = await client(OurThreads).listThreads({ query: "greet", pageSize: 100 });
say("listed", { found: listed.items.some((thread) => thread.threadId === threadId) });
const cancelled = await client(OurTurns).cancelTurn({ turnId: sent.turnId });
say("cancelled", { status: cancelled.status });
