const MOST_LINES = 5000;

function kindOf(line) {
  if (/^(diff |\+\+\+ |--- )/.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return "";
}

function render(result) {
  const lines = textOf(result).split("\n");
  const listing = element("pre");
  listing.append(...lines.slice(0, MOST_LINES).map((line) => element("span", line, kindOf(line))));
  const parts = [listing];
  if (lines.length > MOST_LINES) {
    parts.push(element("p", `${lines.length - MOST_LINES} more lines are not shown here.`));
  }
  if (result.isError) parts.unshift(element("h1", "The call failed"));
  show(...parts);
}
