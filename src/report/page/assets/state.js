// What is shown of the paragraphs: kept in the address, so that it can be passed on.
const data = JSON.parse(byId("data").textContent);
const firstRun = (data && data.runs[0]) || "";
const defaults = { run: firstRun, sort: "corpus", class: "", stage: "", outcome: "", q: "", page: 1, per: 20 };
const state = { ...defaults };

function readAddress() {
  const hash = location.hash.slice(1);
  if (!hash.includes("=")) return false;
  const found = new URLSearchParams(hash);
  for (const [name, value] of Object.entries(defaults)) {
    const given = found.get(name);
    if (typeof value !== "number") state[name] = given === null ? value : given;
    else state[name] = Number.parseInt(given, 10) > 0 ? Number.parseInt(given, 10) : value;
  }
  return true;
}

function writeAddress() {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(defaults)) {
    if (state[name] !== value) kept.set(name, state[name]);
  }
  const hash = kept.toString();
  for (const link of document.querySelectorAll("a.file")) {
    kept.delete("page");
    link.hash = kept.toString();
  }
  const current = location.hash.slice(1);
  if (hash === current || (!hash && !current.includes("="))) return;
  try {
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  } catch (error) {
    // A browser that allows no new address shows the same all the same.
  }
}

const runAt = () => Math.max(0, data.runs.indexOf(state.run));
const inRun = (paragraph) => paragraph.runs[runAt()] || null;
const outcomeOf = (paragraph) => (inRun(paragraph) ? inRun(paragraph).outcome : "not in this run");
const f1Of = (paragraph, run) => {
  const found = paragraph.runs[run];
  return found && found.f1 !== null ? found.f1 : null;
};

// All that a search looks in, made once for each paragraph and run.
function haystack(paragraph) {
  const run = runAt();
  paragraph.hay = paragraph.hay || [];
  if (paragraph.hay[run] === undefined) {
    const units = inRun(paragraph) ? inRun(paragraph).units : [];
    const words = [paragraph.id, paragraph.text, ...paragraph.gold.map((gold) => gold[0]), ...units];
    paragraph.hay[run] = words.filter((one) => one).join("\n").toLowerCase();
  }
  return paragraph.hay[run];
}

const searched = () => state.q.toLowerCase().split(/\s+/).filter((word) => word);

function isChosen(paragraph) {
  if (state.class && paragraph.class !== state.class) return false;
  if (state.stage && paragraph.stage !== state.stage) return false;
  if (state.outcome && outcomeOf(paragraph) !== state.outcome) return false;
  const words = searched();
  return !words.length || words.every((word) => haystack(paragraph).includes(word));
}

// The figure that paragraphs are put in order by; those without one come last.
function orderFigure(paragraph) {
  const own = f1Of(paragraph, runAt());
  if (state.sort === "low") return own;
  if (state.sort === "high") return own === null ? null : -own;
  const base = f1Of(paragraph, 0);
  if (own === null || base === null) return null;
  return state.sort === "gain" ? base - own : own - base;
}

function chosen() {
  const found = data.paragraphs.filter(isChosen);
  if (state.sort === "corpus") return found;
  const figures = new Map(found.map((paragraph) => [paragraph, orderFigure(paragraph)]));
  return found.sort((a, b) => {
    const [x, y] = [figures.get(a), figures.get(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return x - y;
  });
}
