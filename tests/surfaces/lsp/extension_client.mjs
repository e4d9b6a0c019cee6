// The extension of VS Code with a mock of `vscode`, on a real `cpl lsp`: node extension_client.mjs CPL ROOT CODEPLANE_JS
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node";

const [, , cpl, root, script] = process.argv;
const { CodePlane, CAPABILITIES } = createRequire(import.meta.url)(script);
const server = spawn(cpl, ["lsp", "--repo", root], { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createMessageConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
connection.listen();
const told = [];
const client = {
  sendRequest: (method, params) => connection.sendRequest(method, params),
  onNotification: (method, handle) => connection.onNotification(method, handle),
  onRequest: (method, handle) => connection.onRequest(method, handle),
  outputChannel: { appendLine: (line) => told.push(line) },
};

// MOCK: only what the extension uses of VS Code's API, with the answers of a person.
const inputs = [];
const shown = [];
const registered = { commands: {}, views: {} };
class EventEmitter {
  listeners = [];
  event = (listener) => this.listeners.push(listener);
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
}
const at = { line: 0, character: 5 };
const mock_vscode = {
  EventEmitter,
  TreeItem: class {
    constructor(label) {
      this.label = label;
    }
  },
  commands: { registerCommand: (name, run) => ((registered.commands[name] = run), { dispose() {} }) },
  window: {
    registerTreeDataProvider: (name, view) => ((registered.views[name] = view), { dispose() {} }),
    showInputBox: async () => inputs.shift(),
    showTextDocument: async (document) => shown.push(document.content),
    showWarningMessage: async () => "Approve once",
    activeTextEditor: {
      document: { uri: { toString: () => pathToFileURL(`${root}/unused.py`).href, scheme: "file" } },
      selection: { start: at, end: at, active: at },
    },
  },
  workspace: { textDocuments: [], openTextDocument: async (options) => options },
};

await connection.sendRequest("initialize", {
  processId: process.pid,
  rootUri: pathToFileURL(root).href,
  capabilities: { experimental: CAPABILITIES },
});
await connection.sendNotification("initialized", {});
const plane = new CodePlane(mock_vscode, client);
plane.register();
const { commands, views } = registered;

inputs.push("where is Cart?");
const answer = await commands["codeplane.ask"]();
inputs.push("where is Cart?");
const task = await commands["codeplane.executeTask"]();
await new Promise((resolve) => {
  views["codeplane.tasks"].onDidChangeTreeData(() => {
    if (plane.tasks.get(task.taskId).status === "completed") resolve();
  });
  if (plane.tasks.get(task.taskId).status === "completed") resolve();
});
inputs.push("lonely");
const renamed = await commands["codeplane.renameSymbol"]();
const changes = await views["codeplane.changes"].getChildren();
const undone = await commands["codeplane.undoLast"]();
const approved = await plane.approveTool({ tool: "git.push", message: "May it be pushed?", risk: "high" });
const rows = await views["codeplane.tasks"].getChildren();
console.log(
  JSON.stringify({
    answer: answer.answer,
    shown: shown.length,
    renamed: renamed.status,
    changes: changes.map((row) => row.label),
    undone: undone.state,
    approved,
    tasks: rows.map((row) => views["codeplane.tasks"].getTreeItem(row).description),
    approvals: await views["codeplane.approvals"].getChildren(),
    threads: (await views["codeplane.threads"].getChildren()).map((row) => row.label),
  }),
);
await connection.sendRequest("shutdown");
await connection.sendNotification("exit");
