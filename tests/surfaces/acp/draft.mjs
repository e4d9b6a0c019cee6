// A client of the draft of version 2, by the protocol's own SDK: node draft.mjs stdio|ws TARGET FOLDER HEADERS
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import assert from "node:assert/strict";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk/experimental/v2";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import WebSocket from "ws";

const [transport, target, cwd, headers] = process.argv.slice(2);
const { session } = methods.agent;
const text = (words) => [{ type: "text", text: words }];

function open() {
  if (transport === "ws") return createWebSocketStream(target, { WebSocket, headers: JSON.parse(headers) });
  const [command, ...rest] = JSON.parse(target);
  const child = spawn(command, rest, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  return ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
}

const updates = [];
const asked = [];
const states = () => updates.map((one) => one.update).filter((one) => one.sessionUpdate === "state_update");
const until = async (condition) => {
  while (!condition()) await new Promise((on) => setTimeout(on, 20));
};

const app = client({ name: "draft" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: params.options.find((one) => one.kind === "allow_once").optionId } };
  })
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params));

await app.connectWith(open(), async (agent) => {
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: "draft", version: "1" },
    capabilities: {},
  });
  assert.equal(hello.protocolVersion, 2);
  const made = await agent.request(session.new, { cwd });
  const sessionId = made.sessionId;
  assert.deepEqual(made.configOptions.map((one) => one.configId), ["mode", "model"]);

  const accepted = await agent.request(session.prompt, { sessionId, prompt: text("echo hello there") });
  await until(() => states().at(-1)?.state === "idle");
  assert.deepEqual(states().map((one) => one.state), ["running", "idle"]);
  assert.equal(states().at(-1).stopReason, "end_turn");
  const own = updates.find((one) => one.update.sessionUpdate === "user_message").update;
  assert.equal(own.messageId, accepted.messageId);
  const said = updates.filter((one) => one.update.sessionUpdate === "agent_message_chunk");
  assert.equal(said.map((one) => one.update.content.text).join(""), "hello there");

  await agent.request(session.prompt, { sessionId, prompt: text("edit greeting.py") });
  await until(() => states().filter((one) => one.state === "idle").length === 2);
  assert.equal(asked.length, 1);
  assert.equal(asked[0].subject.type, "tool_call");
  assert.ok(states().some((one) => one.state === "requires_action"));
  const diffs = updates.flatMap((one) => one.update.content ?? []).filter((one) => one.type === "diff");
  assert.equal(diffs[0].changes[0].operation, "modify");
  assert.match(diffs[0].patch.text, /name\.title\(\)/);

  await agent.request(session.prompt, { sessionId, prompt: text("sleep 5") });
  await until(() => states().at(-1).state === "running");
  await agent.notify(session.cancel, { sessionId });
  await until(() => states().at(-1).state === "idle");
  assert.equal(states().at(-1).stopReason, "cancelled");

  const before = updates.length;
  await agent.request(session.resume, { sessionId, cwd, replayFrom: { type: "start" } });
  // The SDK hands notifications on one after another, the last ones perhaps after the answer.
  const again = () => updates.slice(before).map((one) => one.update);
  await until(() => again().filter((one) => one.state === "idle").length === 4);
  assert.ok(again().some((one) => one.sessionUpdate === "user_message" && one.content[0].text === "echo hello there"));
  await assert.rejects(agent.request(session.resume, { sessionId, cwd, replayFrom: { type: "_moon" } }), { code: -32602 });
  await agent.request(session.setConfigOption, { sessionId, configId: "mode", type: "id", value: "always" });
  await agent.request(session.close, { sessionId });
});
process.stdout.write("done");
process.exit(0);
