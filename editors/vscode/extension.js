"use strict";
// Starts the language server of CodePlane; what it adds to VS Code is in codeplane.js.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { CodePlane, CAPABILITIES } = require("./codeplane");

let client;

/** Starts the server and adds the commands and views. */
async function activate(context) {
  const settings = vscode.workspace.getConfiguration("codeplane");
  const name = settings.get("client");
  const server = { command: settings.get("command"), args: ["lsp", ...(name ? ["--client", name] : [])] };
  client = new LanguageClient(
    "codeplane",
    "CodePlane",
    { run: server, debug: server },
    {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: { possibleReferences: settings.get("possibleReferences") },
    },
  );
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...capabilities.experimental, ...CAPABILITIES };
    },
    initialize: () => {},
    getState: () => ({ kind: "static" }),
    clear: () => {},
  });
  const plane = new CodePlane(vscode, client);
  context.subscriptions.push(...plane.register());
  await client.start();
}

/** Ends the server's proxy; the server itself goes on for others. */
async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
