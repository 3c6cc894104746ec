// The list of cards: filters, search, pages.
const ORDERS = [
  ["corpus", "as in the corpus"],
  ["low", "F1, lowest first"],
  ["high", "F1, highest first"],
  ["gain", "gain over the first run"],
  ["loss", "loss to the first run"],
];

function fill(id, options, value) {
  const select = byId(id);
  select.replaceChildren(...options.map(([key, words]) => make("option", { value: key }, words)));
  select.value = value;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  return select.value;
}

// The values that occur, with how often; a field with one alone is of no use.
function fillValues(id, values) {
  const counts = new Map();
  for (const value of values) if (value) counts.set(value, (counts.get(value) || 0) + 1);
  const sorted = [...counts].sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }));
  const options = sorted.map(([value, n]) => [value, value + " (" + n + ")"]);
  state[id] = fill(id, [["", "all"], ...options], state[id]);
  byId(id).closest("label").hidden = counts.size < 2;
}

function fillControls() {
  state.run = fill("run", data.runs.map((run) => [run, run]), state.run);
  byId("run").closest("label").hidden = data.runs.length < 2;
  state.sort = fill("sort", ORDERS.slice(0, data.runs.length < 2 ? 3 : 5), state.sort);
  fillValues("class", data.paragraphs.map((paragraph) => paragraph.class));
  fillValues("stage", data.paragraphs.map((paragraph) => paragraph.stage));
  fillValues("outcome", data.paragraphs.map(outcomeOf));
  state.per = Number(fill("per", [10, 20, 50, 100].map((n) => [String(n), String(n)]), String(state.per)));
  if (byId("q").value !== state.q) byId("q").value = state.q;
}

function fillKey() {
  const line = (className, width, dash) => {
    const svg = svgElement("svg", { viewBox: "0 0 32 10", "aria-hidden": "true" });
    const attributes = { d: "M2 5H30", class: className, "stroke-width": String(width) };
    if (dash) attributes["stroke-dasharray"] = "4 3";
    svg.append(svgElement("path", attributes));
    return svg;
  };
  const items = [0, 1, 2, 3, 4].map((level) => [line("l" + level, 1.25 + level * 0.9), " rated " + level]);
  items.push([line("alone-key", 1.5, true), " no match"]);
  if (!data.redacted) {
    for (const color of ["green", "pink", "yellow", "generic", "strikeout"]) {
      const isUsed = data.paragraphs.some((one) => one.marks.some((mark) => colorOf(mark) === color));
      const only = color === "strikeout" ? " only-strike" : "";
      if (isUsed) items.push([make("mark", { className: color + only }, color)]);
    }
  }
  byId("key").replaceChildren(...items.map((parts) => make("li", {}, ...parts)));
}

let observer = null;
const redraw = new Set();
function watch(boxes) {
  if (observer) observer.disconnect();
  if (!("ResizeObserver" in window)) return;
  observer = new ResizeObserver((entries) => {
    if (!redraw.size) {
      requestAnimationFrame(() => {
        for (const box of redraw) drawLinks(box);
        redraw.clear();
      });
    }
    for (const entry of entries) redraw.add(entry.target);
  });
  for (const box of boxes) observer.observe(box);
}

function render() {
  fillControls();
  const found = chosen();
  const n = found.length;
  const pages = Math.max(1, Math.ceil(n / state.per));
  state.page = Math.min(Math.max(1, state.page), pages);
  const first = (state.page - 1) * state.per;
  const shown = found.slice(first, first + state.per);
  byId("cards").replaceChildren(...shown.map((paragraph, at) => card(paragraph, at)));
  const boxes = [...document.querySelectorAll(".pairs")];
  boxes.forEach(drawLinks);
  watch(boxes);
  const of = n + " of " + data.paragraphs.length + " paragraphs";
  const range = n ? ", " + (first + 1) + " to " + (first + shown.length) + " shown" : "";
  byId("shown").textContent = of + range;
  pager(pages);
  paintFound();
  writeAddress();
}

function pager(pages) {
  const go = (words, to) => {
    const button = make("button", { type: "button", disabled: to < 1 || pages < to || to === state.page }, words);
    button.addEventListener("click", () => {
      state.page = to;
      render();
      byId("shown").scrollIntoView({ block: "start" });
      byId("cards").focus({ preventScroll: true });
    });
    return button;
  };
  const place = make("span", {}, "page " + state.page + " of " + pages);
  const { page } = state;
  byId("pager").replaceChildren(go("First", 1), go("Previous", page - 1), place, go("Next", page + 1), go("Last", pages));
  byId("pager").hidden = pages < 2;
}

// Words that were searched for, painted without touching the document.
function paintFound() {
  if (!("highlights" in CSS) || typeof Highlight === "undefined") return;
  CSS.highlights.delete("found");
  const words = searched();
  if (!words.length) return;
  const ranges = [];
  for (const box of document.querySelectorAll(".essay, .words")) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (const word of words) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          ranges.push(range);
        }
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

function chooseRun(run, at) {
  state.run = run;
  render();
  const again = document.querySelectorAll(".card")[at];
  const button = again && again.querySelector(".f1s [aria-pressed='true']");
  if (button) button.focus();
}

function startList() {
  const change = (name, value) => {
    state[name] = value;
    state.page = 1;
    render();
  };
  for (const id of ["run", "sort", "class", "stage", "outcome", "per"]) {
    byId(id).addEventListener("change", (event) => {
      change(id, id === "per" ? Number(event.target.value) : event.target.value);
    });
  }
  let timer = 0;
  byId("q").addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => change("q", event.target.value), 90);
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => {
    Object.assign(state, defaults, { run: state.run, per: state.per });
    render();
    byId("q").focus();
  });
  window.addEventListener("hashchange", () => {
    if (readAddress()) {
      render();
      byId("controls").scrollIntoView({ block: "start" });
    }
  });
  byId("controls").hidden = false;
  const isGiven = readAddress();
  fillControls();
  fillKey();
  render();
  if (isGiven) byId("controls").scrollIntoView({ block: "start" });
}

if (data && byId("controls")) startList();
