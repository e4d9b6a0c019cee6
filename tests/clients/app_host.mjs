// A host of MCP Apps made of the published packages: the SDK's client and ext-apps' AppBridge. It calls one tool, serves
// a page that has the tool's view in a sandboxed frame, and carries the messages between the frame and the bridge.
//
// node app_host.mjs URL TOOL ARGUMENTS HEADERS DECISION   prints the page's address; ends when its input does.
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, getToolUiResourceUri, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/app-bridge";

const [url, tool, given, headers, decision] = process.argv.slice(2);
const capabilities = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } },
};
const client = new Client({ name: "app-host", version: "1" }, { capabilities });
const asked = [];
client.setRequestHandler("elicitation/create", async (request) => {
  asked.push(request.params.message);
  return decision ? { action: "accept", content: { decision } } : { action: "cancel" };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: JSON.parse(headers) } }));
const { tools } = await client.listTools();
const shown = tools.find((found) => found.name === tool);
const { contents } = await client.readResource({ uri: getToolUiResourceUri(shown) });
const args = JSON.parse(given);
const result = await client.callTool({ name: tool, arguments: args });

const outgoing = [];
let stream;
const transport = {
  start: async () => {},
  close: async () => {},
  send: async (message) => {
    if (stream) stream.write(`data: ${JSON.stringify(message)}\n\n`);
    else outgoing.push(message);
  },
};
const bridge = new AppBridge(client, { name: "app-host", version: "1" }, { serverTools: {} });
bridge.oninitialized = () => {
  bridge.sendToolInput({ arguments: args });
  bridge.sendToolResult(result);
};
await bridge.connect(transport);

const page = `<!doctype html><iframe sandbox="allow-scripts" style="width: 900px; height: 600px"></iframe><script>
const frame = document.querySelector("iframe");
window.addEventListener("message", (event) => {
  if (event.source === frame.contentWindow) fetch("/in", { method: "POST", body: JSON.stringify(event.data) });
});
new EventSource("/out").onmessage = (event) => frame.contentWindow.postMessage(JSON.parse(event.data), "*");
fetch("/view").then((answer) => answer.text()).then((html) => { frame.srcdoc = html; });
</script>`;

const server = createServer(async (request, response) => {
  if (request.url === "/view") {
    response.end(contents[0].text);
  } else if (request.url === "/asked") {
    response.end(JSON.stringify(asked));
  } else if (request.url === "/out") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    stream = response;
    for (const message of outgoing.splice(0)) await transport.send(message);
  } else if (request.url === "/in") {
    let body = "";
    for await (const part of request) body += part;
    transport.onmessage(JSON.parse(body));
    response.end();
  } else {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(page);
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.resume().on("end", () => process.exit(0));
