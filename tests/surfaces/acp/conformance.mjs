// Drives an agent through the cases of acpx's profile acp-core-v1 with the protocol's own SDK, and prints how each ended.
// node conformance.mjs stdio|ws TARGET FOLDER [HEADERS]
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import assert from "node:assert/strict";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import WebSocket from "ws";

const [transport, target, cwd, headers = "{}"] = process.argv.slice(2);
const { session } = methods.agent;
const ENDED = ["end_turn"];
const text = (words) => [{ type: "text", text: words }];

function open() {
  if (transport === "ws") {
    return { stream: createWebSocketStream(target, { WebSocket, headers: JSON.parse(headers) }), end: () => {} };
  }
  const [command, ...rest] = JSON.parse(target);
  const child = spawn(command, rest, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  return { stream: ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), end: () => child.stdin.end() };
}

async function talk(decision, steps) {
  const updates = [];
  const asked = [];
  const opened = open();
  const app = client({ name: "conformance" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      const option = params.options.find((one) => one.kind === decision);
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params));
  try {
    await app.connectWith(opened.stream, async (agent) => {
      const hello = await agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {},
        clientInfo: { name: "conformance", version: "1" },
      });
      const begin = async () => (await agent.request(session.new, { cwd, mcpServers: [] })).sessionId;
      const ask = (sessionId, prompt) => agent.request(session.prompt, { sessionId, prompt });
      const said = () => updates.map((one) => one.update.content?.text ?? "").join("");
      const heard = async (kind) => {
        while (!updates.some((one) => one.update.sessionUpdate === kind)) await new Promise((on) => setTimeout(on, 20));
      };
      await steps({ agent, hello, begin, ask, updates, asked, said, heard });
    });
  } finally {
    opened.end();
  }
}

const refused = async (promise, ...codes) => {
  const error = await promise.then(() => assert.fail("no error"), (found) => found);
  assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
  return error;
};

const CASES = {
  "initialize.handshake": ["allow_once", async ({ hello }) => assert.equal(typeof hello.protocolVersion, "number")],
  "session.new.basic": ["allow_once", async ({ begin }) => assert.ok((await begin()).trim())],
  "session.prompt.single_turn": ["allow_once", async ({ begin, ask, updates }) => {
    assert.ok(ENDED.includes((await ask(await begin(), text("echo hello"))).stopReason));
    assert.ok(updates.length >= 1);
  }],
  "session.update.termination": ["allow_once", async ({ begin, ask, updates, said }) => {
    const id = await begin();
    assert.equal((await ask(id, text("echo hello"))).stopReason, "end_turn");
    assert.ok(updates.every((one) => one.sessionId === id));
    assert.match(said(), /hello/);
  }],
  "session.cancel.in_flight": ["allow_once", async ({ agent, begin, ask, heard }) => {
    const id = await begin();
    const running = ask(id, text("sleep 5000"));
    await heard("agent_message_chunk");
    await agent.notify(session.cancel, { sessionId: id });
    assert.equal((await running).stopReason, "cancelled");
  }],
  "session.cancel.idle": ["allow_once", async ({ agent, begin, ask }) => {
    const id = await begin();
    await agent.notify(session.cancel, { sessionId: id });
    assert.equal((await ask(id, text("echo after"))).stopReason, "end_turn");
  }],
  "session.prompt.multi_turn": ["allow_once", async ({ begin, ask, said }) => {
    const id = await begin();
    for (const word of ["one", "two"]) assert.equal((await ask(id, text(`echo ${word}`))).stopReason, "end_turn");
    assert.match(said(), /one[^]*two/);
  }],
  "errors.invalid_params": ["allow_once", async ({ agent }) => {
    await refused(agent.request("session/new", { mcpServers: [] }), -32602);
  }],
  "errors.invalid_prompt_session_type": ["allow_once", async ({ agent }) => {
    await refused(agent.request("session/prompt", { sessionId: 7, prompt: text("hi") }), -32602);
  }],
  "errors.permission_denied": ["reject_once", async ({ begin, ask, asked, updates }) => {
    assert.equal((await ask(await begin(), text("edit greeting.py"))).stopReason, "end_turn");
    assert.equal(asked.length, 1);
    assert.ok(updates.some((one) => one.update.status === "failed"), "the refusal is not shown");
  }],
  "errors.permission_denied.write": ["reject_once", async ({ begin, ask, updates }) => {
    await ask(await begin(), text("edit greeting.py"));
    const failed = updates.find((one) => one.update.status === "failed");
    assert.match(JSON.stringify(failed), /REJECTED/);
  }],
  "errors.unknown_session": ["allow_once", async ({ ask }) => {
    await refused(ask("thr_nowhere", text("hi")), -32002, -32603, -32000);
  }],
  "session.prompt.echo_empty": ["allow_once", async ({ begin, ask }) => {
    assert.equal((await ask(await begin(), text("echo"))).stopReason, "end_turn");
  }],
  "session.prompt.unrecognized": ["allow_once", async ({ begin, ask, updates }) => {
    assert.equal((await ask(await begin(), text("what is this?"))).stopReason, "end_turn");
    assert.ok(updates.length >= 1);
  }],
  "errors.invalid_params.cwd_null": ["allow_once", async ({ agent }) => {
    await refused(agent.request("session/new", { cwd: null, mcpServers: [] }), -32602);
  }],
  "session.prompt.structured_blocks": ["allow_once", async ({ begin, ask, said }) => {
    const uri = `file://${cwd}/greeting.py`;
    const blocks = [
      ...text("echo"),
      { type: "resource_link", name: "greeting.py", uri },
      { type: "resource", resource: { uri, text: "def greet(): ..." } },
    ];
    assert.equal((await ask(await begin(), blocks)).stopReason, "end_turn");
    assert.match(said(), /greeting\.py[^]*def greet/);
  }],
  "permissions.read.approved": ["allow_once", async ({ begin, ask, updates }) => {
    assert.equal((await ask(await begin(), text("read greeting.py"))).stopReason, "end_turn");
    assert.ok(updates.some((one) => one.update.status === "completed"));
  }],
  "permissions.write.approved": ["allow_once", async ({ begin, ask, asked, updates }) => {
    assert.equal((await ask(await begin(), text("edit greeting.py"))).stopReason, "end_turn");
    assert.equal(asked.length, 1);
    assert.ok(updates.some((one) => one.update.content?.some?.((part) => part.type === "diff")));
  }],
  "session.prompt.background_completion": ["allow_once", async ({ agent, begin, ask }) => {
    const running = ask(await begin(), text("echo later"));
    assert.ok((await agent.request(session.list, {})).sessions.length >= 1);
    assert.equal((await running).stopReason, "end_turn");
  }],
  "session.cancel.followup_prompt": ["allow_once", async ({ agent, begin, ask, heard }) => {
    const id = await begin();
    const running = ask(id, text("sleep 5000"));
    await heard("agent_message_chunk");
    await agent.notify(session.cancel, { sessionId: id });
    assert.equal((await running).stopReason, "cancelled");
    assert.equal((await ask(id, text("echo again"))).stopReason, "end_turn");
  }],
};

const ends = {};
for (const [name, [decision, steps]] of Object.entries(CASES)) {
  ends[`acp.v1.${name}`] = await talk(decision, steps).then(() => "passed", (error) => String(error.stack ?? error));
}
process.stdout.write(JSON.stringify(ends));
process.exit(0);
