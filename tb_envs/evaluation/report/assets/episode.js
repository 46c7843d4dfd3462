// One episode, opened over the page: verdict, changed rows, talk. Everything shown goes in as text.

const LONG = 260; // characters of a result from which it is folded

const parsed = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
const isPlain = (value) => value === null || typeof value !== "object";
const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const plain = (value) => value === null ? "–" : value === true ? "yes" : value === false ? "no" : String(value);

// JSON as a person reads it: objects as names and values, lists of objects as tables.
function readable(value, depth = 0) {
  if (isPlain(value)) return plain(value);
  if (depth > 6) return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return value.map(plain).join(", ") || "none";
    if (!value.every(isRecord)) return h("div", {}, value.map((item) => h("div", {}, readable(item, depth + 1))));
    const names = [...new Set(value.flatMap(Object.keys))];
    return h("div", { class: "wide", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, value.map((item) => h("tr", {}, names.map((name) => h("td", {}, name in item ? readable(item[name], depth + 1) : "")))))));
  }
  const pairs = Object.entries(value);
  const isLong = (item) => !isPlain(item) || String(item).length > 40;
  return pairs.length ? h("dl", {}, pairs.map(([name, item]) => h("div", { class: isLong(item) ? "long" : null }, h("dt", {}, name), h("dd", {}, readable(item, depth + 1))))) : "none";
}

const exactly = (value) => value === null ? h("span", { class: "dim" }, "null") : typeof value === "string" ? value || h("span", { class: "dim" }, "empty") : JSON.stringify(value);

function columnsOf(episode, change) {
  const known = data.about.tables[episode.facts.domain]?.[change.table];
  const width = (change.after ?? change.before).length;
  return known?.length === width ? known : Array.from({ length: width }, (_, at) => `column ${at + 1}`);
}

// A row change in a line, below the call that made it.
function moved(episode, change) {
  const name = `${change.table} ${change.key}`;
  const columns = columnsOf(episode, change);
  const wrong = name in episode.wrong;
  const text = !change.before ? "created" : !change.after ? "removed"
    : columns.flatMap((column, at) => same(change.before[at], change.after[at]) ? [] : [`${column} ${words(change.before[at])} → ${words(change.after[at])}`]).join(", ") || "written, unchanged";
  return h("p", { class: `moved${wrong ? " wrong" : ""}` }, h("b", {}, name), ` ${text}`);
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const words = (value) => (value === null ? "null" : typeof value === "string" ? `‘${value}’` : JSON.stringify(value));

function callOf(episode, step) {
  const args = parsed(step.args);
  const failed = step.r !== undefined && !step.ok;
  const shown = isRecord(args) ? Object.entries(args) : null;
  const result = parsed(step.r ?? "");
  const error = failed && isRecord(result) && isRecord(result.error) ? result.error : null;
  const body = step.r === undefined ? h("p", { class: "failed" }, "No result: the episode ended here.")
    : error ? h("p", { class: "failed" }, h("b", {}, `${plain(error.type ?? "error")}: `), plain(error.message ?? step.r))
    : h("details", { open: step.r.length <= LONG }, h("summary", {}, step.r.length <= LONG ? "result" : `result, ${count(step.r.length)} characters: ${step.r.slice(0, 90)}…`),
        h("div", { class: "value" }, result === undefined ? h("pre", {}, step.r) : readable(result)));
  const number = step.n ?? null;
  return h("div", { class: `call${failed ? " error" : ""}` },
    h("p", {}, h("span", { class: "dim" }, number === null ? "not carried out  " : `${number}  `), h("b", {}, step.name)),
    shown ? (shown.length ? h("div", { class: "value" }, readable(args)) : null) : h("pre", {}, step.args),
    body,
    episode.changes.filter((change) => number !== null && change.call === number).map((change) => moved(episode, change)));
}

const WHO = { customer: "Customer", agent: "Agent", aside: "Agent, beside its calls (nobody hears it)", notice: "Environment, to the agent", unread: "Agent: could not be read as a turn" };

function talk(episode) {
  const steps = episode.steps.map((step) => step.k === "call" ? callOf(episode, step)
    : h("div", { class: `says ${step.k}` }, h("b", {}, WHO[step.k] ?? step.k), step.t || h("span", { class: "dim" }, "(nothing)")));
  return h("section", { class: "talk", "aria-label": "Talk" }, h("h3", {}, "Talk"), steps, h("p", { class: "dim" }, endOf(episode.facts)));
}

const ENDS = { agent: "The agent ended the conversation.", customer: "The customer left.", handover: "The agent handed over.", error: "A system error ended it.", refused: "The model's provider refused to answer.", "limit:context": "The talk no longer fitted into the model's context.", "limit:turns": "The limit of turns was reached.", "limit:tool_calls": "The limit of tool calls was reached.", "limit:tokens": "The limit of tokens was reached." };
const endOf = (facts) => ENDS[facts.ended_by] ?? `Ended by ${facts.ended_by}.`;

// What each changed row was before and is in the end; one that was put back says so.
function records(episode) {
  const rows = new Map();
  for (const change of episode.changes) {
    const name = `${change.table} ${change.key}`;
    const row = rows.get(name) ?? { ...change, name, calls: [] };
    rows.set(name, { ...row, after: change.after, calls: [...new Set([...row.calls, change.call])] });
  }
  const parts = [...rows.values()].map((row) => {
    const wrong = episode.wrong[row.name];
    const shape = row.before ?? row.after;
    const what = !row.before && !row.after ? "created and removed again" : !row.before ? "created" : !row.after ? "removed" : same(row.before, row.after) ? "changed and put back" : "changed";
    const by = ` ${what} by ${row.calls.length > 1 ? "calls" : "call"} ${row.calls.join(", ")}`;
    const columns = shape ? columnsOf(episode, { ...row, after: shape }) : [];
    const line = (column, at) => {
      const [old, now] = [row.before?.[at], row.after?.[at]];
      const differs = row.before && row.after && !same(old, now);
      const kind = `${differs ? "changed" : ""} ${wrong?.includes(column) ? "wrong" : ""}`.trim();
      return h("tr", { class: kind || null }, h("th", { scope: "row" }, column),
        row.before ? h("td", { class: "was" }, exactly(old)) : null, row.after ? h("td", {}, exactly(now)) : null);
    };
    const all = columns.map((column, at) => [line(column, at), row.before && row.after ? !same(row.before[at], row.after[at]) : (row.after ?? row.before)?.[at] !== null]);
    const table = (lines) => h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), row.before ? h("th", { scope: "col" }, "before") : null, row.after ? h("th", { scope: "col" }, "after") : null)), h("tbody", {}, lines));
    const [marked, rest] = [all.filter((one) => one[1]).map((one) => one[0]), all.filter((one) => !one[1]).map((one) => one[0])];
    return h("div", { class: `row${wrong ? " wrong" : ""}` },
      h("h4", {}, row.name, h("small", { class: "dim" }, by), wrong ? h("span", { class: "badge failure" }, "named by a failed check") : null),
      marked.length ? table(marked) : null,
      rest.length ? h("details", {}, h("summary", { class: "dim" }, `${plural(rest.length, "column")} ${row.before && row.after ? "unchanged" : "empty"}`), table(rest)) : null);
  });
  return h("section", { class: "side", "aria-label": "Records changed" }, h("h3", {}, "Records changed"), parts.length ? parts : h("p", { class: "dim" }, "None."));
}

function verdict(episode, entry) {
  const failed = episode.checks.filter((check) => !check.passed);
  const passed = episode.checks.filter((check) => check.passed);
  const missing = failed.filter((check) => check.kind === "earned").length;
  const broken = failed.length - missing;
  const words_ = entry.kind === "error" ? `System error, does not count: ${episode.facts.error}`
    : failed.length === 0 ? `All ${plural(passed.length, "check")} passed.`
    : `${failed.length} of ${plural(episode.checks.length, "check")} failed: ` + [missing ? `${missing} that had to happen did not` : "", broken ? `${broken} that had to hold ${broken === 1 ? "was" : "were"} broken` : ""].filter(Boolean).join(", ") + ".";
  const one = (check) => h("div", { class: "check" },
    h("span", { class: `badge ${check.passed ? "success" : "failure"}` }, check.name), " ", h("small", {}, check.kind === "earned" ? "had to happen" : "had to hold"),
    h("p", {}, h("b", {}, "expected"), h("span", {}, check.expected)), h("p", {}, h("b", {}, "found"), h("span", {}, check.found)));
  return h("section", { class: "side", "aria-label": "Verdict" }, h("h3", {}, "Verdict"), h("p", { class: "verdict" }, words_),
    failed.map(one), passed.length ? h("details", { open: failed.length === 0 && passed.length < 7 }, h("summary", {}, failed.length ? `${plural(passed.length, "check")} passed` : "the checks"), passed.map(one)) : null);
}

function facts(episode, entry) {
  const { tokens, cost, seconds: took, context, ...rest } = episode.facts;
  const kinds = (part) => Object.entries(part).map(([name, value]) => `${count(value)} ${name.replaceAll("_", " ")}`).join(", ");
  const lines = [
    ...Object.entries(tokens).map(([part, value]) => [`tokens, ${part}`, value === null ? UNKNOWN : kinds(value)]),
    ...Object.entries(cost).map(([part, value]) => [`cost, ${part}`, dollars(value)]),
    ["seconds", Object.entries(took).map(([name, value]) => `${name} ${Number.isInteger(value) ? value : value.toFixed(3)}`).join(", ")],
    ["context", Object.entries(context).map(([name, value]) => `${name} ${plain(value)}`).join(", ")],
    ...Object.entries(rest).filter(([, value]) => value !== "").map(([name, value]) => [name.replaceAll("_", " "), isPlain(value) ? plain(value) : readable(value)]),
  ];
  const settings = data.about.runs[entry.run].settings;
  return h("section", { class: "side figures", "aria-label": "Figures and settings" }, h("h3", {}, "Figures and settings"),
    h("details", {}, h("summary", {}, "This attempt"), h("dl", { class: "pairs" }, lines.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
    h("details", {}, h("summary", {}, "The run"), h("div", { class: "value" }, readable(settings))));
}

// All attempts at the same task, of all runs, as small links.
function tries(entry) {
  return data.about.runs.map((run, at) => {
    const others = (data.byTask.get(entry.task) ?? []).filter((other) => other.run === at).sort((a, b) => a.attempt - b.attempt);
    if (!others.length || (others.length === 1 && data.about.runs.length === 1)) return null;
    return h("nav", { class: "tries", "aria-label": `Attempts at this task: ${run.name}` }, h("span", { class: "dim" }, data.about.runs.length > 1 ? run.name : "attempts"),
      others.map((other) => h("a", { href: `#${other.key}`, class: other.kind, "aria-current": other === entry ? "true" : null, title: other.outcome, "aria-label": `attempt ${other.attempt}: ${other.outcome}` },
        `${{ success: "✓", failure: "✗" }[other.kind] ?? "!"}${other.attempt}`)));
  });
}

let opened = null; // the entry that is shown
const dialog = () => $("episode");

async function show(entry) {
  opened = entry;
  const body = $("body");
  const at = view.found.indexOf(entry);
  $("title").replaceChildren(entry.task, h("span", { class: "dim" }, ` attempt ${entry.attempt}${data.about.runs.length > 1 ? `, ${data.about.runs[entry.run].name}` : ""}`));
  $("outcome").replaceChildren(badge(entry));
  $("before").disabled = at <= 0;
  $("after").disabled = at < 0 || at + 1 >= view.found.length;
  if (!dialog().open) dialog().showModal();
  body.replaceChildren(h("p", { class: "dim", role: "status" }, "Unpacking …"));
  let episode;
  try {
    episode = await episodeOf(entry);
  } catch (error) {
    if (opened === entry) body.replaceChildren(h("p", { role: "alert" }, `This episode cannot be read: ${error.message}`));
    return;
  }
  if (opened !== entry) return; // another one was opened meanwhile
  const about = entry.about;
  const doc = data.about.families[about.domain]?.[about.family];
  const line = [endOf(episode.facts), plural(entry.turns, "turn"), plural(entry.calls, "tool call"), entry.errors ? plural(entry.errors, "tool error") : "", entry.tokens === null ? "" : `${count(entry.tokens)} tokens`, entry.cost === null ? "" : dollars(entry.cost), seconds(entry.seconds)].filter(Boolean);
  body.replaceChildren(
    h("p", {}, doc ? `${doc} ` : "", about.traps.map((trap) => h("span", { class: "tag" }, trap))),
    h("p", { class: "dim" }, line.join(" · ")),
    ...tries(entry).filter(Boolean),
    h("div", { class: "columns" }, h("div", { class: "sides" }, verdict(episode, entry), records(episode), facts(episode, entry)), talk(episode)));
  body.scrollTop = 0;
}

function step(by) {
  const next = view.found[view.found.indexOf(opened) + by];
  if (next) open_(next.key, true);
}

function open_(key, inPlace = false) {
  if (inPlace) history.replaceState(null, "", `#${key}`);
  else history.pushState(null, "", `#${key}`);
  follow();
}

// What the address names: an episode, a choice of episodes, or a place on the page.
function follow() {
  const hash = location.hash.slice(1);
  const entry = data.byKey.get(hash) ?? data.byKey.get(encodeURI(decoded(hash))) ?? data.entries.find((one) => hash && one.key.endsWith(`~${hash}`));
  if (entry) return void show(entry);
  if (dialog().open) dialog().close();
  if (hash.startsWith("find?")) {
    view.filters = Object.fromEntries(new URLSearchParams(hash.slice(5)));
    view.page = 0;
    drawFilters();
    drawList();
    $("episodes").scrollIntoView();
  }
}

const decoded = (text) => { try { return decodeURI(text); } catch { return text; } };

function closed() {
  const entry = opened;
  opened = null;
  if (data.byKey.has(location.hash.slice(1))) history.replaceState(null, "", home());
  const link = entry && [...$("list").querySelectorAll("a")].find((one) => one.hash === `#${entry.key}`);
  link?.focus({ preventScroll: true });
}
