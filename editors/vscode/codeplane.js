"use strict";
// Commands, views and questions of CodePlane, on a language client that is given: so that tests can give another one.

const CAPABILITIES = { codeplane: { approveTool: true } };
const MOST_TASKS = 50;

/** A list in the side bar, made of rows of `{label, description, tooltip, command}`. */
class Rows {
  constructor(vscode, load) {
    this.vscode = vscode;
    this.load = load;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  refresh() {
    this.changed.fire(undefined);
  }

  getTreeItem(row) {
    const item = new this.vscode.TreeItem(row.label);
    return Object.assign(item, { description: row.description, tooltip: row.tooltip, command: row.command });
  }

  async getChildren(parent) {
    if (parent) return [];
    try {
      return await this.load();
    } catch (error) {
      return [{ label: "not known", description: String(error.message ?? error) }];
    }
  }
}

class CodePlane {
  constructor(vscode, client) {
    this.vscode = vscode;
    this.client = client;
    this.tasks = new Map();
    this.views = {
      approvals: new Rows(vscode, () => this.rows("approvals")),
      tasks: new Rows(vscode, async () => [...this.tasks.values()].map((task) => this.taskRow(task))),
      threads: new Rows(vscode, () => this.rows("threads")),
      changes: new Rows(vscode, () => this.rows("changes")),
    };
  }

  /** Adds everything to VS Code and returns what takes it away again. */
  register() {
    const { commands, window } = this.vscode;
    const run = {
      "codeplane.ask": () => this.ask(),
      "codeplane.executeTask": () => this.executeTask(),
      "codeplane.cancelTask": (taskId) => this.cancelTask(taskId),
      "codeplane.moveSymbol": () => this.changeSymbol("codeplane.move", "The path of the module it goes to"),
      "codeplane.renameSymbol": () => this.changeSymbol("codeplane.rename", "Its new name"),
      "codeplane.undoLast": () => this.undo(),
      "codeplane.openInbox": () => this.openInbox(),
    };
    return [
      ...Object.entries(run).map(([name, command]) => commands.registerCommand(name, command)),
      ...Object.entries(this.views).map(([name, view]) => window.registerTreeDataProvider(`codeplane.${name}`, view)),
      this.client.onNotification("$/codeplane/taskProgress", (params) => this.taskProgress(params)),
      this.client.onNotification("$/codeplane/unknown", (params) => this.tell(params.message)),
      this.client.onNotification("$/codeplane/partial", (params) => this.tell(`${params.method}: ${params.message}`)),
      this.client.onRequest("codeplane/approveTool", (params) => this.approveTool(params)),
    ];
  }

  /** What the person looks at, for questions and tasks. */
  context() {
    const { window, workspace } = this.vscode;
    const editor = window.activeTextEditor;
    const place = (position) => ({ line: position.line, character: position.character });
    return {
      activeFile: editor?.document.uri.toString(),
      selection: editor && { start: place(editor.selection.start), end: place(editor.selection.end) },
      openFiles: workspace.textDocuments.filter((document) => document.uri.scheme === "file").map((document) => document.uri.toString()),
    };
  }

  async ask() {
    const question = await this.vscode.window.showInputBox({ prompt: "Ask about the repository" });
    if (!question) return undefined;
    const answer = await this.client.sendRequest("codeplane/ask", { question, context: this.context() });
    const places = answer.references.map((place) => `- ${place.path}:${place.line} ${place.text}`);
    const document = await this.vscode.workspace.openTextDocument({
      language: "markdown",
      content: [`# ${question}`, answer.answer, ...places].join("\n\n"),
    });
    await this.vscode.window.showTextDocument(document, { preview: true });
    return answer;
  }

  async executeTask() {
    const task = await this.vscode.window.showInputBox({ prompt: "What is to be done?" });
    if (!task) return undefined;
    const begun = await this.client.sendRequest("codeplane/executeTask", { task, context: this.context() });
    this.taskProgress({ ...begun, title: task });
    return begun;
  }

  async cancelTask(taskId) {
    const running = [...this.tasks.values()].filter((task) => ["pending", "in_progress"].includes(task.status));
    const chosen = taskId ?? (await this.vscode.window.showQuickPick(running.map((task) => task.taskId)));
    return chosen && this.client.sendRequest("codeplane/cancelTask", { taskId: chosen });
  }

  taskProgress(params) {
    const known = this.tasks.get(params.taskId) ?? {};
    this.tasks.delete(params.taskId);
    this.tasks.set(params.taskId, { ...known, ...params });
    if (this.tasks.size > MOST_TASKS) this.tasks.delete(this.tasks.keys().next().value);
    this.views.tasks.refresh();
    this.views.approvals.refresh();
  }

  taskRow(task) {
    const steps = (task.toolExecutions ?? []).map((step) => `${step.status}: ${step.tool}`);
    return {
      label: task.title ?? task.taskId,
      description: `${task.status} ${task.message ?? ""}`.trim(),
      tooltip: steps.join("\n") || "no steps yet",
    };
  }

  /** Asks the person; to close the question leaves it to the inbox. */
  async approveTool(params) {
    const detail = [`risk: ${params.risk ?? "not known"}`, JSON.stringify(params.parameters ?? {}, undefined, 1)].join("\n");
    const chosen = await this.vscode.window.showWarningMessage(
      params.message || `May ${params.tool} run?`,
      { modal: true, detail },
      "Approve once",
      "Reject",
    );
    if (chosen === undefined) return {};
    return { approved: chosen === "Approve once" };
  }

  async changeSymbol(command, prompt) {
    const { window } = this.vscode;
    const editor = window.activeTextEditor;
    if (!editor) return undefined;
    const value = await window.showInputBox({ prompt });
    if (!value) return undefined;
    const { line, character } = editor.selection.active;
    const at = { line, character };
    const actions = await this.client.sendRequest("textDocument/codeAction", {
      textDocument: { uri: editor.document.uri.toString() },
      range: { start: at, end: at },
      context: { diagnostics: [] },
    });
    const offered = actions.map((action) => action.command).find((each) => each.command === command);
    if (!offered) return window.showWarningMessage("CodePlane does not know what this name means.");
    return this.execute(command, [...offered.arguments, value]);
  }

  undo() {
    return this.execute("codeplane.undo", []);
  }

  async execute(command, values) {
    const done = await this.client.sendRequest("workspace/executeCommand", { command, arguments: values });
    this.views.changes.refresh();
    return done;
  }

  openInbox() {
    const terminal = this.vscode.window.createTerminal("CodePlane approvals");
    terminal.show();
    terminal.sendText("cpl approvals");
  }

  async rows(list) {
    const { items } = await this.client.sendRequest("codeplane/list", { list });
    return items;
  }

  tell(message) {
    this.client.outputChannel?.appendLine(message);
  }
}

module.exports = { CodePlane, CAPABILITIES, Rows };
