// An agent on the published TypeScript library: it reads, asks for an edit, makes it through its client, and answers.
import * as acp from "@agentclientprotocol/sdk";
import { Readable, Writable } from "node:stream";

const folders = new Map();
const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));

async function work({ params, client }) {
  const { sessionId } = params;
  const path = `${folders.get(sessionId)}/shop.py`;
  const tell = (update) => client.notify(acp.methods.client.session.update, { sessionId, update });
  const say = (text) => tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const { content } = await client.request(acp.methods.client.fs.readTextFile, { sessionId, path });
  const newText = content.replace("1", "2");
  const toolCall = {
    toolCallId: "edit-1",
    title: "Raise the price",
    kind: "edit",
    status: "pending",
    locations: [{ path }],
    content: [{ type: "diff", path, oldText: content, newText }],
  };
  await tell({ sessionUpdate: "tool_call", ...toolCall });
  const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
  });
  const allowed = outcome.outcome === "selected" && outcome.optionId === "allow";
  if (allowed) await client.request(acp.methods.client.fs.writeTextFile, { sessionId, path, content: newText });
  await tell({ sessionUpdate: "tool_call_update", toolCallId: "edit-1", status: allowed ? "completed" : "failed" });
  await say(allowed ? "Raised." : "I leave it.");
  return { stopReason: "end_turn" };
}

acp
  .agent({ name: "sdk-agent" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false },
    agentInfo: { name: "sdk-agent", version: "2.4.0" },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    const sessionId = crypto.randomUUID();
    folders.set(sessionId, params.cwd);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, work)
  .onNotification(acp.methods.agent.session.cancel, () => {})
  .connect(stream);
