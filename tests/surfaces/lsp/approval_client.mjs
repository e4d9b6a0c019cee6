// A client that answers what it is asked about tools: node approval_client.mjs CPL ROOT, its replies as JSON on stdin
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node";

const [, , cpl, root] = process.argv;
const replies = JSON.parse(readFileSync(0, "utf8"));
const uri = pathToFileURL(`${root}/unused.py`).href;
const server = spawn(cpl, ["lsp", "--repo", root, "--client", "editor"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
const questions = [];
const notes = [];
connection.onRequest("codeplane/approveTool", (params) => {
  questions.push(params);
  return replies.shift() ?? {};
});
connection.onNotification(protocol.LogMessageNotification.type, (params) => notes.push(params.message));
connection.listen();
await connection.sendRequest(protocol.InitializeRequest.type, {
  processId: process.pid,
  rootUri: pathToFileURL(root).href,
  workspaceFolders: null,
  clientInfo: { name: "editor" },
  capabilities: { experimental: { codeplane: { approveTool: true } } },
});
await connection.sendNotification(protocol.InitializedNotification.type, {});
const place = { line: 0, character: 5 };
const outcomes = [];
const run = (command) =>
  connection.sendRequest(protocol.ExecuteCommandRequest.type, command).then(
    (result) => outcomes.push({ status: result.status ?? result.state }),
    (error) => outcomes.push({ error: error.message }),
  );
for (let deletes = 2; deletes && outcomes.at(-1)?.status !== "applied"; deletes--) {
  const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument: { uri },
    range: { start: place, end: place },
    context: { diagnostics: [] },
  });
  await run(actions.find((action) => action.command.command === "codeplane.delete").command);
}
const progress = [];
const paused = new Promise((resolve) => {
  connection.onNotification("$/codeplane/taskProgress", (params) => {
    progress.push(params.message ?? "");
    if (/inbox/.test(params.message) || ["failed", "completed"].includes(params.status)) resolve();
  });
});
await connection.sendRequest("codeplane/executeTask", { task: "greet them" });
await paused;
await connection.sendRequest(protocol.ShutdownRequest.type);
await connection.sendNotification(protocol.ExitNotification.type);
await new Promise((resolve) => server.on("exit", resolve));
console.log(JSON.stringify({ questions, notes, outcomes, progress }));
