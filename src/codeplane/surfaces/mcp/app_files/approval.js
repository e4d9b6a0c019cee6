// Shows an action. It decides nothing: the button has the host ask its person by elicitation, where the owner allows
// that, and the answer counts as any elicitation's.
function render(result) {
  const action = result.structuredContent;
  if (result.isError || !action || typeof action.action_id !== "string") {
    show(element("pre", textOf(result)));
    return;
  }
  const facts = element("dl");
  const listed = [
    ["state", action.state || action.status],
    ["risk", action.risk_class],
    ["by", action.actor],
    ["why it is asked", action.reasons],
    ["expires", action.expires_at],
    ["decided by", action.decided_by],
    ["reason", action.reason],
  ];
  for (const [name, value] of listed) {
    if (value) facts.append(element("dt", name), element("dd", String(value)));
  }
  const parts = [element("h1", action.deterministic_summary), facts];
  if (action.preview) parts.push(element("pre", action.preview));
  if ((action.state || action.status) === "PENDING") {
    const command = element("p", "Decide with ");
    command.append(element("code", `cpl approvals approve ${action.action_id}`), " or the dashboard.");
    parts.push(command);
    if (hostCapabilities.serverTools) parts.push(askButton(action));
  }
  show(...parts);
}

function askButton(action) {
  const button = element("button", "Ask me here");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const note = element("p", "");
    button.after(note);
    try {
      const asked = await request("tools/call", {
        name: "approval_ask_client",
        arguments: { action_id: action.action_id },
      });
      const now = asked.structuredContent;
      if (now && now.state !== "PENDING") {
        render({ ...asked, structuredContent: { ...action, ...now, preview: action.preview } });
        return;
      }
      note.textContent = now && now.asked === false
        ? "This client may not decide it: use the command or the dashboard."
        : textOf(asked) || "It still waits.";
    } catch (error) {
      note.textContent = `The question could not be asked: ${error.message}`;
    }
    button.disabled = false;
  });
  return button;
}
