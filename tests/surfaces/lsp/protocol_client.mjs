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
const unused = { textDocument: { uri: pathToFileURL(`${root}/unused.py`).href } };
const name = { line: 0, character: 5 };
const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
  ...unused,
  range: { start: name, end: name },
  context: { diagnostics: [] },
});
const run = async (command, ...more) => {
  const known = actions.find((action) => action.command.command === command)?.command;
  const given = [...(known?.arguments ?? []), ...more];
  const result = await connection.sendRequest(protocol.ExecuteCommandRequest.type, { command, arguments: given });
  return result.status ?? result.state;
};
answers.actions = [await run("codeplane.move", "helpers.py")];
answers.moved = readFileSync(`${root}/helpers.py`, "utf8");
answers.actions.push(await run("codeplane.undo"));
answers.actions.push(await run("codeplane.rename", "lonely"), await run("codeplane.undo"));
answers.actions.push(await run("codeplane.delete"), await run("codeplane.undo"));
answers.actions.push(await run("codeplane.runImpactedTests").catch((error) => error.message));
const shop = { textDocument: { uri: pathToFileURL(`${root}/shop.py`).href } };
const lenses = await connection.sendRequest(protocol.CodeLensRequest.type, shop);
const resolved = await Promise.all(lenses.map((lens) => connection.sendRequest(protocol.CodeLensResolveRequest.type, lens)));
answers.lenses = resolved.map((lens) => lens.command.title);
answers.actions.push(await run("codeplane.runTests", ...resolved.at(-1).command.arguments));
await connection.sendRequest(protocol.ShutdownRequest.type);
await connection.sendNotification(protocol.ExitNotification.type);
answers.exit = await new Promise((resolve) => server.on("exit", resolve));
console.log(JSON.stringify(answers));
