// Elements, and numbers as words.

const $ = (name) => document.getElementById(name);

// An element; strings among the children become text. Children that are null, undefined or false are left out.
function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const UNKNOWN = "unknown";
const count = (number) => number.toLocaleString("en");
const plural = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;
const dollars = (value) => (value === null ? UNKNOWN : value === 0 ? "$0" : `$${value.toPrecision(3)}`);
const seconds = (value) => (value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`);
const spaced = (name) => name.replaceAll("_", " ");
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const badge = (entry) =>
  h("span", { class: `badge ${entry.kind}` }, entry.kind === "error" ? `system ${entry.outcome}` : entry.outcome);

// What a tool wrote, if it is JSON.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isPlain = (value) => value === null || typeof value !== "object";
const isRecord = (value) => !isPlain(value) && !Array.isArray(value);
const isLong = (value) => !isPlain(value) || String(value).length > 22;
const plain = (value) => (value === null ? "–" : value === true ? "yes" : value === false ? "no" : String(value));

// JSON as a person reads it: objects as names and values, lists of objects as tables.
const DEEPEST = 6;
function readable(value, depth = 0) {
  if (isPlain(value)) return plain(value);
  if (depth > DEEPEST) return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return value.map(plain).join(", ") || "none";
    if (value.every(isRecord)) return recordsTable(value, depth);
    return h("div", {}, value.map((item) => h("div", {}, readable(item, depth + 1))));
  }
  const pairs = Object.entries(value).map(([name, item]) =>
    h("div", { class: isLong(item) && "long" }, h("dt", {}, name), h("dd", {}, readable(item, depth + 1))));
  return pairs.length ? h("dl", {}, pairs) : "none";
}

function recordsTable(records, depth) {
  const names = [...new Set(records.flatMap(Object.keys))];
  const cell = (record, name) => h("td", {}, name in record ? readable(record[name], depth + 1) : "");
  return h("div", { class: "wide", tabindex: 0 }, h("table", {},
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, records.map((record) => h("tr", {}, names.map((name) => cell(record, name)))))));
}
