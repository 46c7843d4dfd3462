// The list of episodes: filters, order, pages. What is chosen is in the address, so that a view can be sent to others.

const PAGE = 50;
const view = { filters: {}, sort: "task", down: false, page: 0, found: [] };
const $ = (name) => document.getElementById(name);

// Each filter: its label, the values an entry has, and a name for a value.
const FILTERS = {
  run: { label: "Run", of: (e) => [data.about.runs[e.run].name] },
  domain: { label: "Domain", of: (e) => [e.about.domain] },
  family: { label: "Family", of: (e) => [`${e.about.domain}/${e.about.family}`] },
  trap: { label: "Trap", of: (e) => (e.about.traps.length ? e.about.traps : ["none"]) },
  outcome: { label: "Outcome", of: (e) => (e.kind === "error" ? ["system error", e.outcome] : [e.outcome]) },
  reason: { label: "Why it failed", of: (e) => (e.reason ? [e.reason] : []) },
  tool: { label: "First wrong write", of: (e) => (e.tool ? [e.tool] : []) },
  check: { label: "Failed check", of: (e) => e.failed },
  ended: { label: "Ended by", of: (e) => [e.ended] },
  split: { label: "Split", of: (e) => [e.about.split || "fresh"] },
};

// The columns: title, value to sort by, content, class.
const COLUMNS = [
  ["Task", "task", (e) => h("a", { href: `#${e.key}` }, e.task), "name"],
  ["Attempt", "attempt", (e) => count(e.attempt), "n"],
  ["Run", "run", (e) => data.about.runs[e.run].name, "extra", () => data.about.runs.length > 1],
  ["Outcome", "outcome", badge, "result"],
  ["What went wrong", "why", whyOf, "why"],
  ["Traps", "traps", (e) => e.about.traps.map((trap) => h("span", { class: "tag" }, trap)), "extra"],
  ["Turns", "turns", (e) => count(e.turns), "n"],
  ["Calls", "calls", (e) => count(e.calls), "n"],
  ["Tokens", "tokens", (e) => (e.tokens === null ? UNKNOWN : count(e.tokens)), "n"],
];

function whyOf(entry) {
  if (entry.kind === "error") return entry.error;
  if (entry.kind === "success") return "";
  const reason = entry.tool ? `${entry.reason}: ${entry.tool}` : entry.reason;
  const more = entry.failed.length > 1 ? ` and ${entry.failed.length - 1} more` : "";
  return [reason, h("br"), h("small", {}, `${entry.failed[0] ?? ""}${more}`)];
}

const sortValue = (entry, name) =>
  name === "why" ? entry.reason + entry.tool : name === "traps" ? entry.about.traps.join() : entry[name] ?? -1;

function choose() {
  const chosen = Object.entries(view.filters).filter(([name, value]) => value && FILTERS[name]);
  const words = (view.filters.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  view.found = data.entries.filter(
    (entry) =>
      chosen.every(([name, value]) => FILTERS[name].of(entry).includes(value)) &&
      words.every((word) => entry.text.includes(word)),
  );
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const compare = (a, b) => {
    const [x, y] = [sortValue(a, view.sort), sortValue(b, view.sort)];
    return typeof x === "number" && typeof y === "number" ? x - y : order(String(x), String(y));
  };
  const ties = (a, b) => order(a.task, b.task) || a.attempt - b.attempt || a.run - b.run;
  view.found.sort((a, b) => (view.down ? -compare(a, b) : compare(a, b)) || ties(a, b));
  view.page = Math.max(0, Math.min(view.page, Math.ceil(view.found.length / PAGE) - 1));
}

function drawList() {
  choose();
  const shown = COLUMNS.filter((column) => !column[4] || column[4]());
  const first = view.page * PAGE;
  const rows = view.found.slice(first, first + PAGE);
  $("list").replaceChildren(
    h("caption", { class: "hidden" }, "Episodes"),
    h("thead", {}, h("tr", {}, shown.map(([title, name, , kind]) => {
      const order = view.sort === name ? (view.down ? "descending" : "ascending") : null;
      const arrow = order ? (view.down ? " ↓" : " ↑") : "";
      return h("th", { scope: "col", class: kind, "aria-sort": order }, h("button", { type: "button", onclick: () => sortBy(name) }, title + arrow));
    }))),
    h("tbody", {}, rows.map((entry) => h("tr", { onclick: (event) => event.target.closest("a") || open_(entry.key) },
      shown.map(([, , content, kind]) => h(kind === "name" ? "td" : "td", { class: kind }, content(entry)))))),
  );
  const all = data.entries.length;
  const span = rows.length ? `${count(first + 1)}–${count(first + rows.length)} of ` : "";
  $("found").textContent =
    all === 0 ? "No attempts yet."
    : view.found.length === 0 ? `None of ${plural(all, "attempt")} is like that.`
    : span + plural(view.found.length, "attempt") + (view.found.length < all ? `, chosen from ${count(all)}` : "");
  $("previous").disabled = view.page === 0;
  $("next").disabled = first + PAGE >= view.found.length;
  $("clear").disabled = !Object.values(view.filters).some(Boolean);
}

function sortBy(name) {
  view.down = view.sort === name ? !view.down : false;
  view.sort = name;
  drawList();
}

// Every filter's values with how many attempts have them; the chosen one stays even where nothing has it any more.
function drawFilters() {
  const controls = Object.entries(FILTERS).map(([name, { label, of }]) => {
    const values = new Map();
    for (const entry of data.entries) for (const value of of(entry)) values.set(value, (values.get(value) ?? 0) + 1);
    const chosen = view.filters[name] ?? "";
    if (chosen && !values.has(chosen)) values.set(chosen, 0);
    if (values.size < 2 && !chosen) return null;
    const listed = [...values].sort(name === "check" || name === "tool" ? (a, b) => b[1] - a[1] : undefined);
    return h("label", {}, label, h("select", { name, onchange: (event) => filter({ [name]: event.target.value }) },
      h("option", { value: "" }, "all"),
      listed.map(([value, times]) => h("option", { value, selected: value === chosen }, `${value} (${count(times)})`))));
  });
  const search = $("filters").querySelector("input") ?? h("input", { type: "search", name: "q", placeholder: "task, check, tool …", oninput: (event) => filter({ q: event.target.value }) });
  if (search !== document.activeElement) search.value = view.filters.q ?? "";
  const box = search.parentElement ?? h("label", { class: "search" }, "Find", search);
  const kept = new Set([box]);
  for (const old of [...$("filters").children]) if (!kept.has(old)) old.remove();
  if (!box.isConnected) $("filters").append(box);
  $("filters").append(...controls.filter(Boolean));
}

const home = () => {
  const chosen = Object.entries(view.filters).filter(([, value]) => value);
  return chosen.length ? `#find?${new URLSearchParams(chosen)}` : "#episodes";
};

function filter(changed) {
  Object.assign(view.filters, changed);
  view.page = 0;
  history.replaceState(null, "", home());
  drawList();
}

function turn(by) {
  view.page += by;
  drawList();
  $("episodes").scrollIntoView();
}
