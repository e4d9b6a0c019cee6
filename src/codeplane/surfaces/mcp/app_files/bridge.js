"use strict";
// Speaks MCP Apps (2026-01-26) with the host. Whatever comes from there is shown as text, never as markup.
const host = window.parent;
const waiting = new Map();
let lastId = 0;
let hostCapabilities = {};

function send(message) {
  host.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function request(method, params) {
  const id = (lastId += 1);
  send({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function show(...parts) {
  document.getElementById("view").replaceChildren(...parts);
  const { width, height } = document.documentElement.getBoundingClientRect();
  send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
}

function textOf(result) {
  return (result.content || []).filter((part) => part.type === "text").map((part) => part.text).join("\n");
}

function applyContext(context) {
  if (context && (context.theme === "light" || context.theme === "dark")) {
    document.documentElement.style.colorScheme = context.theme;
  }
  for (const [name, value] of Object.entries((context && context.styles && context.styles.variables) || {})) {
    if (name.startsWith("--") && typeof value === "string" && !value.includes("url(")) {
      document.documentElement.style.setProperty(name, value);
    }
  }
}

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== host || !message || message.jsonrpc !== "2.0") return;
  if (message.method === undefined) {
    const call = waiting.get(message.id);
    if (!call) return;
    waiting.delete(message.id);
    if (message.error) call.reject(new Error(String(message.error.message)));
    else call.resolve(message.result);
  } else if (message.method === "ui/notifications/tool-result") {
    render(message.params);
  } else if (message.method === "ui/notifications/tool-cancelled") {
    show(element("p", "The call was cancelled."));
  } else if (message.method === "ui/notifications/host-context-changed") {
    applyContext(message.params);
  } else if (message.id !== undefined) {
    const known = message.method === "ping" || message.method === "ui/resource-teardown";
    send(known ? { id: message.id, result: {} } : { id: message.id, error: { code: -32601, message: "Method not found" } });
  }
});

request("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "codeplane", version: "1" },
  appCapabilities: { availableDisplayModes: ["inline"] },
}).then((result) => {
  hostCapabilities = result.hostCapabilities || {};
  applyContext(result.hostContext);
  send({ method: "ui/notifications/initialized", params: {} });
});
