// One episode, opened over the page: verdict, changed rows, talk, figures. Everything shown goes in as text.

let opened = null; // the entry that is shown
const dialog = () => $("episode");

async function show(entry) {
  opened = entry;
  const at = view.found.indexOf(entry);
  const run = many() ? `, ${runOf(entry)}` : "";
  $("title").replaceChildren(entry.task, h("span", { class: "dim" }, ` attempt ${entry.attempt}${run}`));
  $("outcome").replaceChildren(badge(entry));
  $("before").disabled = at <= 0;
  $("after").disabled = at < 0 || at + 1 >= view.found.length;
  if (!dialog().open) dialog().showModal();
  $("body").focus();
  $("body").replaceChildren(h("p", { class: "dim", role: "status" }, "Unpacking …"));
  const parts = await episodeOf(entry).then(
    (episode) => body(entry, episode),
    (error) => [h("p", { role: "alert" }, `This episode cannot be read: ${error.message}`)],
  );
  if (opened !== entry) return; // another one was opened meanwhile
  $("body").replaceChildren(...parts);
  $("body").scrollTop = 0;
}

function body(entry, episode) {
  const doc = data.about.families[entry.about.domain]?.[entry.about.family];
  const figures = [
    endOf(episode.facts),
    plural(entry.turns, "turn"),
    plural(entry.calls, "tool call"),
    entry.errors && plural(entry.errors, "tool error"),
    entry.tokens !== null && plural(entry.tokens, "token"),
    entry.cost !== null && dollars(entry.cost),
    seconds(entry.seconds),
  ];
  return [
    h("p", {}, doc ? `${doc} ` : "", entry.about.traps.map((trap) => h("span", { class: "tag" }, trap))),
    h("p", { class: "dim" }, figures.filter(Boolean).join(" · ")),
    ...tries(entry),
    h("div", { class: "columns" },
      h("div", { class: "sides" }, verdict(entry, episode), records(episode), facts(entry, episode)), talk(episode)),
  ];
}

// All attempts at the same task, of all runs, as small links.
function tries(entry) {
  const all = data.byTask.get(entry.task);
  if (all.length < 2) return [];
  const link = (other) =>
    h("a", {
      href: `#${other.key}`,
      class: other.kind,
      "aria-current": other === entry && "true",
      "aria-label": `attempt ${other.attempt}: ${other.outcome}`,
    }, `${{ success: "✓", failure: "✗" }[other.kind] ?? "!"}${other.attempt}`);
  return data.about.runs.map((run, at) => {
    const ofRun = all.filter((other) => other.run === at).sort((a, b) => a.attempt - b.attempt);
    return h("nav", { class: "tries", "aria-label": `Attempts at this task, ${run.name}` },
      h("span", { class: "dim" }, many() ? run.name : "attempts"), ofRun.map(link));
  });
}

function verdict(entry, episode) {
  const failed = episode.checks.filter((check) => !check.passed);
  const passed = episode.checks.filter((check) => check.passed);
  const title = failed.length ? `${plural(passed.length, "check")} passed` : "the checks";
  return h("section", { class: "side", "aria-label": "Verdict" },
    h("h3", {}, "Verdict"),
    h("p", { class: "verdict" }, verdictWords(entry, episode, failed)),
    failed.map(checked),
    passed.length > 0 && h("details", {}, h("summary", {}, title), passed.map(checked)));
}

function verdictWords(entry, episode, failed) {
  if (entry.kind === "error") return `System error, does not count: ${episode.facts.error}`;
  if (!failed.length) return `All ${plural(episode.checks.length, "check")} passed.`;
  const missing = failed.filter((check) => check.kind === "earned").length;
  const broken = failed.length - missing;
  const parts = [
    missing && `${missing} that had to happen did not`,
    broken && `${broken} that had to hold ${broken === 1 ? "was" : "were"} broken`,
  ];
  return `${failed.length} of ${plural(episode.checks.length, "check")} failed: ${parts.filter(Boolean).join(", ")}.`;
}

function checked(check) {
  const line = (name) => h("p", {}, h("b", {}, name), h("span", {}, check[name]));
  return h("div", { class: "check" },
    h("span", { class: `badge ${check.passed ? "success" : "failure"}` }, check.name), " ",
    h("small", {}, check.kind === "earned" ? "had to happen" : "had to hold"), line("expected"), line("found"));
}

function facts(entry, episode) {
  const { tokens, cost, seconds: took, context, ...rest } = episode.facts;
  const listed = (part, shown) =>
    Object.entries(part).map(([name, value]) => `${spaced(name)} ${shown(value)}`).join(", ");
  const rounded = (value) => (Number.isInteger(value) ? value : value.toFixed(3));
  const lines = [
    ...Object.entries(tokens).map(([part, kinds]) => [`tokens, ${part}`, kinds ? listed(kinds, count) : UNKNOWN]),
    ...Object.entries(cost).map(([part, value]) => [`cost, ${part}`, dollars(value)]),
    ["seconds", listed(took, rounded)],
    ["context", listed(context, plain)],
    ...Object.entries(rest).filter(([, value]) => value !== "").map(([name, value]) => [spaced(name), readable(value)]),
  ];
  const pairs = lines.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
  const settings = readable(data.about.runs[entry.run].settings);
  return h("section", { class: "side figures", "aria-label": "Figures and settings" },
    h("h3", {}, "Figures and settings"),
    h("details", {}, h("summary", {}, "This attempt"), h("dl", { class: "pairs" }, pairs)),
    h("details", {}, h("summary", {}, "The run"), h("div", { class: "value" }, settings)));
}
