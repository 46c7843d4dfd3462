// Puts the page together, and keeps it up to date where a server is behind it.

const THEMES = ["auto", "light", "dark"];
const root = document.documentElement;

// A page from disk may have no storage.
function stored(name) {
  try {
    if (name !== undefined) localStorage.setItem("theme", name);
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function theme(name) {
  root.dataset.theme = name;
  $("theme").textContent = `Theme: ${name}`;
}

function nextTheme() {
  const name = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
  stored(name);
  theme(name);
}

const seen = { next: 0, version: "" };

// Asks for what is new, over and over. The numbers are exchanged whole; an opened episode is not touched.
async function poll() {
  try {
    const answer = await fetch(`state?${new URLSearchParams({ after: seen.next, version: seen.version })}`);
    if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
    const state = await answer.json();
    Object.assign(data.tasks, state.tasks);
    take(state.entries);
    if (state.numbers !== null) exchange(state.numbers);
    if (state.entries.length) {
      if (!document.activeElement?.matches("#filters select")) drawFilters(); // an open menu would close
      drawList();
    }
    Object.assign(seen, { next: state.next, version: state.version });
    $("live").textContent = state.done ? "finished" : `live: ${state.progress}`;
  } catch (error) {
    $("live").textContent = `not live: ${error.message}`;
  }
  setTimeout(poll, data.about.live * 1000);
}

// New numbers in place of the old ones; what was folded open stays open.
function exchange(numbers) {
  const titles = (query) => [...document.querySelectorAll(`#numbers ${query} > summary`)];
  const open = new Set(titles("details[open]").map((title) => title.textContent));
  $("numbers").innerHTML = numbers; // made by the server's `markup`, which escapes all that it did not make itself
  for (const title of titles("details")) if (open.has(title.textContent)) title.parentElement.open = true;
}

function listen() {
  $("theme").addEventListener("click", nextTheme);
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  $("clear").addEventListener("click", () => {
    view.filters = {};
    filter({});
    drawFilters();
  });
  $("before").addEventListener("click", () => step(-1));
  $("after").addEventListener("click", () => step(1));
  $("close").addEventListener("click", () => dialog().close());
  dialog().addEventListener("close", closed);
  dialog().addEventListener("click", (event) => event.target === dialog() && dialog().close()); // beside it
  dialog().addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  addEventListener("hashchange", follow);
}

async function start() {
  theme(THEMES.includes(stored()) ? stored() : "auto");
  data.about = await unpack("about");
  listen();
  if (data.about.live) await poll();
  else {
    const listed = await unpack("entries");
    data.tasks = listed.tasks;
    take(listed.entries);
  }
  drawFilters();
  drawList();
  root.dataset.ready = data.entries.length;
  follow();
}

start().catch((error) => {
  $("found").textContent = `This browser cannot show the episodes: ${error.message}`;
});
