// What each changed row was before and is in the end: changed cells are marked, and so is what a failed check names.

// The names of a table's columns, where the domain is installed and still has such a table.
function knownColumns(episode, table, values) {
  const known = data.about.tables[episode.facts.domain]?.[table];
  return known?.length === values.length ? known : null;
}

const columnsOf = (episode, table, values) =>
  knownColumns(episode, table, values) ?? values.map((_, at) => `column ${at + 1}`);

function records(episode) {
  const rows = new Map();
  for (const change of episode.changes) {
    const name = `${change.table} ${change.key}`;
    const row = rows.get(name) ?? { name, table: change.table, before: change.before, calls: new Set() };
    row.after = change.after;
    row.shape = change.after ?? change.before;
    row.calls.add(change.call);
    rows.set(name, row);
  }
  const wrongFirst = (a, b) => (b.name in episode.wrong) - (a.name in episode.wrong);
  const cards = [...rows.values()].sort(wrongFirst).map((row) => card(episode, row));
  const unnamed = [...rows.values()].some((row) => row.shape && !knownColumns(episode, row.table, row.shape));
  return h("section", { class: "side", "aria-label": "Records changed" }, h("h3", {}, "Records changed"),
    unnamed && h("p", { class: "dim" }, "Where columns are numbers, the domain is not installed here or has changed."),
    cards.length ? cards : h("p", { class: "dim" }, "None."));
}

function card(episode, row) {
  const wrong = episode.wrong[row.name];
  const updated = row.before && row.after;
  const columns = row.before || row.after ? columnsOf(episode, row.table, row.shape) : [];
  const told = (at) => (updated ? !same(row.before[at], row.after[at]) : (row.after ?? row.before)[at] !== null);
  const line = (at) => recordLine(row, columns[at], at, updated && told(at), wrong?.includes(columns[at]));
  const places = columns.map((_, at) => at);
  const [shown, rest] = [places.filter(told), places.filter((at) => !told(at))];
  const title = `${plural(rest.length, "column")} ${updated ? "unchanged" : "empty"}`;
  return h("div", { class: `row${wrong ? " wrong" : ""}` },
    h("h4", {}, row.name, h("small", { class: "dim" }, ` ${what(row)} by ${calls(row)}`)),
    wrong && h("span", { class: "badge failure" }, "named by a failed check"),
    shown.length > 0 && recordTable(row, shown.map(line)),
    rest.length > 0 && h("details", {}, h("summary", { class: "dim" }, title), recordTable(row, rest.map(line))));
}

const calls = (row) => `${row.calls.size > 1 ? "calls" : "call"} ${[...row.calls].join(", ")}`;

function what({ before, after }) {
  if (!before) return after ? "created" : "created and removed again";
  if (!after) return "removed";
  return same(before, after) ? "changed and put back" : "changed";
}

function recordTable(row, lines) {
  const titles = ["column", row.before && "before", row.after && "after"].filter(Boolean);
  return h("table", {}, h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, lines));
}

function recordLine(row, column, at, differs, wrong) {
  const kind = [differs && "changed", wrong && "wrong"].filter(Boolean).join(" ");
  return h("tr", { class: kind || null }, h("th", { scope: "row" }, column),
    row.before && h("td", { class: "was" }, exactly(row.before[at])), row.after && h("td", {}, exactly(row.after[at])));
}

// A stored value; nothing and the empty text can be told apart.
function exactly(value) {
  if (value === null || value === "") return h("span", { class: "dim" }, value === null ? "null" : "empty");
  return typeof value === "string" ? value : JSON.stringify(value);
}
