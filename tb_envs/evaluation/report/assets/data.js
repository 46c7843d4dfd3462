// What the page knows: a line for every attempt, and each episode when it is asked for. From a file they are unpacked,
// one chunk at a time; from `tbx view` they are fetched. Words of agents are data: they never become markup.

const bytesOf = (text) =>
  Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function unpack(name) {
  const packed = document.getElementById(name).textContent;
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// The last few chunks stay unpacked, so that neighbours open at once and memory stays small.
const chunks = new Map();
function chunk(number) {
  const found = chunks.get(number) ?? unpack(`chunk-${number}`);
  chunks.delete(number);
  chunks.set(number, found);
  if (chunks.size > 4) chunks.delete(chunks.keys().next().value);
  return found;
}

const data = { about: null, tasks: {}, entries: [], byKey: new Map(), byTask: new Map() };

// A key is what a link names: the run (left out where there is only one), the task, the attempt.
const keyOf = (run, task, attempt) =>
  (data.about.runs.length > 1 ? `${encodeURIComponent(data.about.runs[run].name)}~` : "") +
  `${encodeURI(task)}/${attempt}`;

function take(lines) {
  for (const line of lines) {
    const entry = Object.fromEntries(data.about.columns.map((name, at) => [name, line[at]]));
    entry.key = keyOf(entry.run, entry.task, entry.attempt);
    entry.about = data.tasks[entry.task];
    entry.kind = entry.outcome.startsWith("error:") ? "error" : entry.outcome;
    entry.text = `${entry.task}/${entry.attempt} ${entry.failed.join(" ")} ${entry.tool} ${entry.error}`.toLowerCase();
    const old = data.byKey.get(entry.key);
    if (old) Object.assign(old, entry); // played again
    else {
      data.entries.push(entry);
      data.byKey.set(entry.key, entry);
      if (!data.byTask.has(entry.task)) data.byTask.set(entry.task, []);
      data.byTask.get(entry.task).push(entry);
    }
  }
}

async function episodeOf(entry) {
  if (entry.chunk >= 0) return (await chunk(entry.chunk))[entry.place];
  const asked = new URLSearchParams({ run: entry.run, task: entry.task, attempt: entry.attempt });
  const answer = await fetch(`episode?${asked}`);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

// An element; strings become text, and so does everything else that is no element.
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
const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const dollars = (value) => (value === null ? UNKNOWN : value === 0 ? "$0" : `$${value.toPrecision(3)}`);
const seconds = (value) => (value === null ? UNKNOWN : value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`);
const OUTCOMES = { success: "success", failure: "failure" };
const badge = (entry) => h("span", { class: `badge ${entry.kind}` }, OUTCOMES[entry.outcome] ?? `system ${entry.outcome}`);
