// What the page knows: a line for every attempt, and each episode when it is asked for. From a file they are unpacked,
// one chunk at a time; from `tbx view` they are fetched. Words of agents are data: they never become markup.

const data = { about: null, tasks: {}, entries: [], byKey: new Map(), byTask: new Map() };

const bytesOf = (text) =>
  Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function unpack(name) {
  const packed = document.getElementById(name).textContent;
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// The last few chunks stay unpacked, so that neighbours open at once and memory stays small.
const KEPT = 4;
const chunks = new Map();
function chunk(number) {
  const found = chunks.get(number) ?? unpack(`chunk-${number}`);
  chunks.delete(number);
  chunks.set(number, found);
  if (chunks.size > KEPT) chunks.delete(chunks.keys().next().value);
  return found;
}

const many = () => data.about.runs.length > 1;
const runOf = (entry) => data.about.runs[entry.run].name;

// A key is what a link names: the run (left out where there is only one), the task, the attempt.
function keyOf({ run, task, attempt }) {
  const before = many() ? `${encodeURIComponent(data.about.runs[run].name)}~` : "";
  return `${before}${encodeURI(task)}/${attempt}`;
}

// Takes lines of the list; one that is there already was played again.
function take(lines) {
  for (const line of lines) {
    const entry = Object.fromEntries(data.about.columns.map((name, at) => [name, line[at]]));
    entry.key = keyOf(entry);
    entry.about = data.tasks[entry.task];
    entry.kind = entry.outcome.startsWith("error:") ? "error" : entry.outcome;
    const words = [`${entry.task}/${entry.attempt}`, ...entry.failed, entry.tool, entry.error];
    entry.text = words.join(" ").toLowerCase();
    const old = data.byKey.get(entry.key);
    if (old) {
      Object.assign(old, entry);
      continue;
    }
    data.entries.push(entry);
    data.byKey.set(entry.key, entry);
    if (!data.byTask.has(entry.task)) data.byTask.set(entry.task, []);
    data.byTask.get(entry.task).push(entry);
  }
}

async function episodeOf(entry) {
  if (entry.chunk >= 0) return (await chunk(entry.chunk))[entry.place];
  const asked = new URLSearchParams({ run: entry.run, task: entry.task, attempt: entry.attempt });
  const answer = await fetch(`episode?${asked}`);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return answer.json();
}
