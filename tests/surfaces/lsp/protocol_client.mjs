// Microsoft's own implementation of the protocol as a client of `cpl lsp`: node protocol_client.mjs CPL ROOT
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node";

const [, , cpl, root] = process.argv;
const uri = pathToFileURL(`${root}/main.py`).href;
const server = spawn(cpl, ["lsp", "--stdio", "--repo", root], { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
connection.listen();
const greeting = await connection.sendRequest(protocol.InitializeRequest.type, {
  processId: process.pid,
  rootUri: pathToFileURL(root).href,
  workspaceFolders: null,
  capabilities: { textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } } },
});
await connection.sendNotification(protocol.InitializedNotification.type, {});
await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "python", version: 1, text: readFileSync(`${root}/main.py`, "utf8") },
});
const place = { textDocument: { uri }, position: { line: 2, character: 8 } };
const partial = [];
connection.onProgress(protocol.ReferencesRequest.type, "parts", (locations) => partial.push(...locations));
const answers = {
  encoding: greeting.capabilities.positionEncoding,
  definition: await connection.sendRequest(protocol.DefinitionRequest.type, place),
  symbols: await connection.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument: { uri } }),
  last: await connection.sendRequest(protocol.ReferencesRequest.type, {
    ...place,
    context: { includeDeclaration: true },
    partialResultToken: "parts",
  }),
  partial,
};
const source = new protocol.CancellationTokenSource();
const hover = connection.sendRequest(protocol.HoverRequest.type, place, source.token);
source.cancel();
answers.cancelled = await hover.then(() => "answered", (error) => error.code);
await connection.sendRequest(protocol.ShutdownRequest.type);
await connection.sendNotification(protocol.ExitNotification.type);
answers.exit = await new Promise((resolve) => server.on("exit", resolve));
console.log(JSON.stringify(answers));
