// Puts the page together, and keeps it up to date where a server is behind it.

const THEMES = ["auto", "light", "dark"];
function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = `Theme: ${name}`;
  try { localStorage.setItem("theme", name); } catch { /* a page from disk may have no storage */ }
}

function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

let seen = { next: 0, version: "" };

// Asks for what is new. The numbers are exchanged whole, opened folds stay open; an opened episode is not touched.
async function poll() {
  try {
    const answer = await fetch(`state?${new URLSearchParams({ after: seen.next, version: seen.version })}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const state = await answer.json();
    Object.assign(data.tasks, state.tasks);
    take(state.entries);
    if (state.numbers !== null) {
      const open = new Set([...document.querySelectorAll("#numbers details[open] > summary")].map((one) => one.textContent));
      $("numbers").innerHTML = state.numbers; // written by `markup`, which escapes all that it did not make
      for (const one of document.querySelectorAll("#numbers details > summary")) if (open.has(one.textContent)) one.parentElement.open = true;
    }
    if (state.entries.length) {
      if (!$("filters").contains(document.activeElement) || document.activeElement.tagName === "INPUT") drawFilters();
      drawList();
    }
    seen = { next: state.next, version: state.version };
    $("live").textContent = state.done ? "finished" : `live: ${state.progress}`;
  } catch (error) {
    $("live").textContent = `not live: ${error.message}`;
  }
  setTimeout(poll, data.about.live * 1000);
}

async function start() {
  theme(THEMES.includes(stored()) ? stored() : "auto");
  $("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
  data.about = await unpack("about");
  if (data.about.live) await poll();
  else {
    const listed = await unpack("entries");
    data.tasks = listed.tasks;
    take(listed.entries);
  }
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  $("clear").addEventListener("click", () => { view.filters = {}; filter({}); drawFilters(); });
  $("before").addEventListener("click", () => step(-1));
  $("after").addEventListener("click", () => step(1));
  $("close").addEventListener("click", () => dialog().close());
  dialog().addEventListener("close", closed);
  dialog().addEventListener("click", (event) => { if (event.target === dialog()) dialog().close(); });
  dialog().addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
  drawFilters();
  drawList();
  document.documentElement.dataset.ready = data.entries.length;
  follow();
}

start();
