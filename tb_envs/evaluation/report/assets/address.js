// What the address names: an episode (`#task/attempt`, `#run~task/attempt`), a choice of them (`#find?…`), a section.

function decoded(text) {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

// An episode without its run is the first run's that has it.
function entryAt(hash) {
  const named = data.byKey.get(hash) ?? data.byKey.get(encodeURI(decoded(hash)));
  return named ?? (hash.includes("/") ? data.entries.find((entry) => entry.key.endsWith(`~${hash}`)) : undefined);
}

function follow() {
  const hash = location.hash.slice(1);
  const entry = entryAt(hash);
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

function openEpisode(key, { inPlace = false } = {}) {
  if (inPlace) history.replaceState(null, "", `#${key}`);
  else history.pushState(null, "", `#${key}`);
  follow();
}

// The next or previous one of the list.
function step(by) {
  const next = view.found[view.found.indexOf(opened) + by];
  if (next) openEpisode(next.key, { inPlace: true });
}

function closed() {
  const entry = opened;
  opened = null;
  if (entryAt(location.hash.slice(1))) history.replaceState(null, "", home());
  const link = entry && [...$("list").querySelectorAll("a")].find((one) => one.hash === `#${entry.key}`);
  link?.focus({ preventScroll: true });
}
