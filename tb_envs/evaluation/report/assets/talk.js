// What was said, called and answered, in order, with the rows that each call changed.

const LONG = 260; // characters of a result from which it is folded
const WHO = {
  customer: "Customer",
  agent: "Agent",
  aside: "Agent, beside its calls (nobody hears it)",
  notice: "Environment, to the agent",
  unread: "Agent: could not be read as a turn",
  judged: "Judge",
};
const ENDS = {
  agent: "The agent ended the conversation.",
  customer: "The customer left.",
  handover: "The agent handed over.",
  error: "A system error ended it.",
  refused: "The model's provider refused to answer.",
  "limit:context": "The talk no longer fitted into the model's context.",
  "limit:turns": "The limit of turns was reached.",
  "limit:tool_calls": "The limit of tool calls was reached.",
  "limit:tokens": "The limit of tokens was reached.",
  "limit:user_turns": "The limit of the customer's turns was reached.",
};
const endOf = (facts) => ENDS[facts.ended_by] ?? `Ended by ${facts.ended_by}.`;

function talk(episode) {
  const steps = episode.steps.map((step) => (step.k === "call" ? callOf(episode, step) : says(step)));
  const end = h("p", { class: "dim" }, endOf(episode.facts));
  return h("section", { class: "talk", "aria-label": "Talk" }, h("h3", {}, "Talk"), steps, end);
}

function says(step) {
  const words = step.t || h("span", { class: "dim" }, "(nothing)");
  const again = step.faults && ` (its model was asked again: ${step.faults.map(spaced).join(", ")})`;
  const who = h("b", {}, WHO[step.k] ?? step.k);
  return h("div", { class: `says ${step.k}` }, who, words, again && h("small", {}, again));
}

function callOf(episode, step) {
  const failed = step.r !== undefined && !step.ok;
  const args = parsed(step.args);
  const written = isRecord(args)
    ? Object.keys(args).length > 0 && h("div", { class: "value" }, readable(args))
    : h("pre", {}, step.args);
  const number = step.n === undefined ? "not carried out  " : `${step.n}  `;
  const changes = episode.changes.filter((change) => change.call === step.n);
  return h("div", { class: `call${failed ? " error" : ""}` },
    h("p", {}, h("span", { class: "dim" }, number), h("b", {}, step.name)),
    written,
    step.r === undefined ? h("p", { class: "failed" }, "No result: the episode ended here.") : resultOf(step, failed),
    changes.map((change) => moved(episode, change)));
}

function resultOf(step, failed) {
  const result = parsed(step.r);
  if (failed && isRecord(result?.error)) {
    const { type, message } = result.error;
    return h("p", { class: "failed" }, h("b", {}, `${plain(type ?? "error")}: `), plain(message ?? step.r));
  }
  const short = step.r.length <= LONG;
  const title = short ? "result" : `result, ${count(step.r.length)} characters: ${step.r.slice(0, 90)}…`;
  const shown = result === undefined ? h("pre", {}, step.r) : readable(result);
  return h("details", { open: short }, h("summary", {}, title), h("div", { class: "value" }, shown));
}

// A row change in a line, below the call that made it.
function moved(episode, change) {
  const name = `${change.table} ${change.key}`;
  const kind = name in episode.wrong ? "moved wrong" : "moved";
  return h("p", { class: kind }, h("b", {}, name), ` ${moves(episode, change)}`);
}

function moves(episode, { before, after, table }) {
  if (!before) return "created";
  if (!after) return "removed";
  const quoted = (value) => (typeof value === "string" ? `‘${value}’` : JSON.stringify(value));
  return columnsOf(episode, table, after)
    .map((column, at) => !same(before[at], after[at]) && `${column} ${quoted(before[at])} → ${quoted(after[at])}`)
    .filter(Boolean)
    .join(", ") || "written, unchanged";
}
