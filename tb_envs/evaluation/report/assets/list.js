// The list of episodes: filters, order, pages. What is chosen is in the address, so that a view can be sent to others.

const PAGE = 50;
const view = { filters: {}, sort: "task", down: false, page: 0, found: [] };

// Each filter: its label, the values that an entry has, and whether frequent values come first.
const FILTERS = {
  run: { label: "Run", of: (e) => [runOf(e)] },
  domain: { label: "Domain", of: (e) => [e.about.domain] },
  family: { label: "Family", of: (e) => [`${e.about.domain}/${e.about.family}`] },
  trap: { label: "Trap", of: (e) => (e.about.traps.length ? e.about.traps : ["none"]) },
  outcome: { label: "Outcome", of: (e) => (e.kind === "error" ? ["system error", e.outcome] : [e.outcome]) },
  reason: { label: "Why it failed", of: (e) => (e.reason ? [e.reason] : []) },
  tool: { label: "First wrong write", of: (e) => (e.tool ? [e.tool] : []), frequent: true },
  check: { label: "Failed check", of: (e) => e.failed, frequent: true },
  ended: { label: "Ended by", of: (e) => [e.ended] },
  split: { label: "Split", of: (e) => [e.about.split || "fresh"] },
};

// The columns: title, what it is sorted by, content, class.
const COLUMNS = [
  ["Task", "task", (e) => h("a", { href: `#${e.key}` }, e.task), "name"],
  ["Attempt", "attempt", (e) => count(e.attempt), "n"],
  ["Run", "run", runOf, "extra"],
  ["Outcome", "outcome", badge, "result"],
  ["What went wrong", "why", whyOf, "why"],
  ["Traps", "traps", (e) => e.about.traps.map((trap) => h("span", { class: "tag" }, trap)), "extra traps"],
  ["Turns", "turns", (e) => count(e.turns), "n"],
  ["Calls", "calls", (e) => count(e.calls), "n"],
  ["Tokens", "tokens", (e) => (e.tokens !== null ? count(e.tokens) : e.cost === 0 ? "none" : UNKNOWN), "n"],
];

function whyOf(entry) {
  if (entry.kind === "error") return entry.error;
  if (entry.kind === "success") return "";
  const more = entry.failed.length > 1 ? ` and ${entry.failed.length - 1} more` : "";
  const reason = entry.tool ? `${entry.reason}: ${entry.tool}` : entry.reason;
  return [reason, h("br"), h("small", {}, `${entry.failed[0] ?? ""}${more}`)];
}

function sortValue(entry, name) {
  if (name === "why") return entry.reason + entry.tool;
  if (name === "traps") return entry.about.traps.join();
  return entry[name] ?? -1;
}

// Finds and orders what is to be listed.
const natural = new Intl.Collator("en", { numeric: true }).compare;
function choose() {
  const chosen = Object.entries(view.filters).filter(([name, value]) => value && FILTERS[name]);
  const words = (view.filters.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (entry) =>
    chosen.every(([name, value]) => FILTERS[name].of(entry).includes(value)) &&
    words.every((word) => entry.text.includes(word));
  const compare = (a, b) => {
    const [x, y] = [sortValue(a, view.sort), sortValue(b, view.sort)];
    return typeof x === "number" && typeof y === "number" ? x - y : natural(String(x), String(y));
  };
  const ties = (a, b) => natural(a.task, b.task) || a.attempt - b.attempt || a.run - b.run;
  view.found = data.entries.filter(fits);
  view.found.sort((a, b) => (view.down ? -compare(a, b) : compare(a, b)) || ties(a, b));
  view.page = Math.max(0, Math.min(view.page, Math.ceil(view.found.length / PAGE) - 1));
}

function drawList() {
  choose();
  const columns = COLUMNS.filter(([, name]) => name !== "run" || many());
  const first = view.page * PAGE;
  const shown = view.found.slice(first, first + PAGE);
  const row = (entry) =>
    h("tr", { onclick: (event) => event.target.closest("a") || openEpisode(entry.key) },
      columns.map(([, , content, kind]) => h("td", { class: kind }, content(entry))));
  $("list").replaceChildren(
    h("caption", { class: "hidden" }, "Episodes"),
    h("thead", {}, h("tr", {}, columns.map(head))),
    h("tbody", {}, shown.map(row)),
  );
  $("found").textContent = foundWords(first, shown.length);
  $("previous").disabled = view.page === 0;
  $("next").disabled = first + PAGE >= view.found.length;
  $("clear").disabled = !Object.values(view.filters).some(Boolean);
}

function head([title, name, , kind]) {
  const order = view.sort === name ? (view.down ? "descending" : "ascending") : null;
  const arrow = order ? (view.down ? " ↓" : " ↑") : "";
  const button = h("button", { type: "button", onclick: () => sortBy(name) }, title + arrow);
  return h("th", { scope: "col", class: kind, "aria-sort": order }, button);
}

function foundWords(first, shown) {
  const all = data.entries.length;
  if (!all) return "No attempts yet.";
  if (!shown) return `None of ${plural(all, "attempt")} is like that.`;
  const from = view.found.length < all ? `, chosen from ${count(all)}` : "";
  return `${count(first + 1)}–${count(first + shown)} of ${plural(view.found.length, "attempt")}${from}`;
}

function sortBy(name) {
  view.down = view.sort === name ? !view.down : false;
  view.sort = name;
  drawList();
}

// Every filter that divides the attempts, with how many have each value. What is chosen stays, even where none has it.
function drawFilters() {
  const box = $("filters").querySelector(".search") ?? searchBox();
  const input = box.querySelector("input");
  if (input !== document.activeElement) input.value = view.filters.q ?? "";
  for (const old of [...$("filters").children]) if (old !== box) old.remove();
  $("filters").append(...Object.entries(FILTERS).map(filterBox).filter(Boolean));
}

function searchBox() {
  const typed = (event) => filter({ q: event.target.value });
  const input = h("input", { type: "search", name: "q", placeholder: "task, check, tool …", oninput: typed });
  const box = h("label", { class: "search" }, "Find", input);
  $("filters").append(box);
  return box;
}

function filterBox([name, { label, of, frequent }]) {
  const values = new Map();
  for (const entry of data.entries) for (const value of of(entry)) values.set(value, (values.get(value) ?? 0) + 1);
  const chosen = view.filters[name] ?? "";
  if (chosen && !values.has(chosen)) values.set(chosen, 0);
  if (values.size < 2 && !chosen) return null;
  const listed = [...values].sort((a, b) => (frequent ? b[1] - a[1] : 0) || natural(a[0], b[0]));
  const option = ([value, times]) => h("option", { value, selected: value === chosen }, `${value} (${count(times)})`);
  const changed = (event) => filter({ [name]: event.target.value });
  const all = h("option", { value: "" }, "all");
  return h("label", {}, label, h("select", { name, onchange: changed }, all, listed.map(option)));
}

// The address of the list as it is chosen now.
function home() {
  const chosen = Object.entries(view.filters).filter(([, value]) => value);
  return chosen.length ? `#find?${new URLSearchParams(chosen)}` : "#episodes";
}

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
