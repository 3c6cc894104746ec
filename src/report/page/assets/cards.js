// A paragraph as a card: its text with what was marked, and both sides' units with lines.
const COLORS = ["green", "pink", "yellow", "generic", "strikeout", "note"];
const LONG = 2400;
const MANY = 6;
const SVG = "http://www.w3.org/2000/svg";
const colorOf = (mark) => (COLORS.includes(mark[2]) ? mark[2] : "generic");
const decimals = (value, places) => (value === null ? "–" : value.toFixed(places));
const withheld = () => make("span", { className: "withheld-text" }, "[withheld]");

// The text cut wherever a mark begins or ends. Positions count characters, not UTF-16.
function essay(paragraph) {
  const box = make("div", { className: "essay", dir: "auto" });
  if (paragraph.text === null) {
    box.append(withheld());
    return box;
  }
  const chars = Array.from(paragraph.text);
  const within = (position) => Math.min(Math.max(position, 0), chars.length);
  const marks = paragraph.marks.map((mark) => ({
    start: within(mark[0]),
    end: within(mark[1]),
    color: colorOf(mark),
    annotation: mark[3],
  }));
  const ends = marks.flatMap((mark) => [mark.start, mark.end]);
  const cuts = [...new Set([0, chars.length, ...ends])].sort((a, b) => a - b);
  cuts.forEach((cut, at) => {
    for (const mark of marks) if (mark.start === cut) box.append(numberOf(mark));
    if (at + 1 === cuts.length) return;
    const words = chars.slice(cut, cuts[at + 1]).join("");
    const over = marks.filter((mark) => mark.start <= cut && cuts[at + 1] <= mark.end);
    box.append(over.length ? marked(words, over) : words);
  });
  return box;
}

function numberOf(mark) {
  const isPoint = mark.start === mark.end;
  const kind = isPoint ? "note" : mark.color;
  const number = String(mark.annotation + 1);
  const sup = make(
    "sup",
    { className: isPoint ? "at note" : "at", title: kind + ", annotation " + number },
    make("span", { className: "hidden" }, " [" + kind + " annotation "),
    number,
    make("span", { className: "hidden" }, "] "),
  );
  sup.dataset.annotations = " " + mark.annotation + " ";
  return sup;
}

function marked(words, over) {
  const colors = [...new Set(over.map((mark) => mark.color))];
  const fills = colors.filter((color) => color !== "strikeout");
  const element = make("mark", {
    className: colors.join(" ") + (fills.length ? "" : " only-strike"),
    title: over.map((mark) => mark.color + ", annotation " + (mark.annotation + 1)).join("; "),
  }, words);
  element.dataset.annotations = " " + over.map((mark) => mark.annotation).join(" ") + " ";
  if (fills.length > 1) {
    const stripes = fills.map((color, at) => {
      return "var(--" + (color === "note" ? "generic" : color) + ") " + at * 7 + "px " + (at + 1) * 7 + "px";
    });
    element.style.backgroundImage = "repeating-linear-gradient(135deg, " + stripes.join(", ") + ")";
  }
  return element;
}

function unit(name, words, pairs, other, from) {
  const to = pairs.map((pair) => other + (pair.to + 1) + " at " + decimals(pair.rating, 1)).join(", ");
  return make(
    "li",
    { className: pairs.length ? "unit" : "unit alone" },
    make(
      "div",
      { className: "head" },
      make("b", {}, name),
      from,
      make("span", { className: "to" }, pairs.length ? "with " + to : "no match"),
    ),
    make("div", { className: "words", dir: "auto" }, words === null ? withheld() : words),
  );
}

function goldUnit(paragraph, gold, at, pairs) {
  const mark = paragraph.marks.find((one) => one[3] === gold[1]);
  const kind = mark ? " from " + (mark[0] === mark[1] ? "note" : colorOf(mark)) : "";
  const words = "annotation " + (gold[1] + 1) + (mark ? ", " + kind.slice(6) : "");
  const own = pairs.filter((pair) => pair[1] === at).map((pair) => ({ to: pair[0], rating: pair[2] }));
  const from = make("span", { className: kind.trim() }, words);
  const item = unit("G" + (at + 1), gold[0], own, "M", from);
  item.dataset.annotation = gold[1];
  return item;
}

function column(title, className, items, nothing) {
  const list = items.length ? make("ul", {}, ...items) : make("p", { className: "none" }, nothing);
  return make("div", { className }, make("h4", {}, title), list);
}

function alignment(paragraph) {
  const found = inRun(paragraph);
  const pairs = found ? found.pairs.filter((p) => p[0] < found.units.length && p[1] < paragraph.gold.length) : [];
  const gold = paragraph.gold.map((one, at) => goldUnit(paragraph, one, at, pairs));
  const units = (found ? found.units : []).map((words, at) => {
    const own = pairs.filter((pair) => pair[0] === at).map((pair) => ({ to: pair[1], rating: pair[2] }));
    return unit("M" + (at + 1), words, own, "G", null);
  });
  const box = make(
    "div",
    { className: "pairs" },
    column("Instructor, " + gold.length + (gold.length === 1 ? " unit" : " units"), "gold", gold, "No units."),
    column(
      (data.runs[runAt()] || "Model") + ", " + units.length + (units.length === 1 ? " unit" : " units"),
      "model",
      units,
      found ? "No units: " + found.outcome + "." : "This run has not got the paragraph.",
    ),
  );
  box.links = pairs.map((pair) => ({ from: gold[pair[1]], to: units[pair[0]], rating: pair[2] }));
  return box;
}

function svgElement(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// The lines between matched units, laid over the card as it stands now.
function drawLinks(box) {
  const old = box.querySelector(".links");
  if (old) old.remove();
  const frame = box.getBoundingClientRect();
  if (!frame.width || !box.links.length) return;
  const svg = svgElement("svg", { class: "links", "aria-hidden": "true" });
  const labels = [];
  for (const { from, to, rating } of box.links) {
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const [x0, x1] = [a.right - frame.left, b.left - frame.left];
    const [y0, y1] = [a, b].map((rect) => rect.top + rect.height / 2 - frame.top);
    const bend = (x1 - x0) / 2;
    const level = Math.min(4, Math.max(0, Math.round(rating || 0)));
    svg.append(svgElement("path", {
      d: `M${x0} ${y0} C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`,
      class: "l" + level,
      "stroke-width": String(1.25 + (rating || 0) * 0.9),
    }));
    // This near to where they begin, lines from different units are still apart.
    const t = 0.14;
    const along = (p, q) => (1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * p + 3 * (1 - t) * t * t * q + t ** 3 * q;
    const x = (1 - t) ** 3 * x0 + 3 * (1 - t) ** 2 * t * (x0 + bend) + 3 * (1 - t) * t * t * (x1 - bend) + t ** 3 * x1;
    labels.push({ x, y: along(y0, y1) + 4, words: decimals(rating, 1) });
  }
  let last = -Infinity;
  for (const { x, y, words } of labels.sort((a, b) => a.y - b.y)) {
    last = Math.max(y, last + 14);
    const label = svgElement("text", { x: String(x), y: String(last) });
    label.textContent = words;
    svg.append(label);
  }
  box.append(svg);
}

function card(paragraph, at) {
  const about = [paragraph.class && "class " + paragraph.class, paragraph.stage, paragraph.student];
  const text = essay(paragraph);
  const article = make("article", { className: "card", "aria-labelledby": "card-" + at });
  const f1s = data.runs.map((run, index) => {
    if (data.runs.length > MANY && index !== runAt()) return null;
    const button = make(
      "button",
      { type: "button", "aria-pressed": index === runAt() ? "true" : "false", title: "Show " + run },
      run,
      make("strong", {}, "F1 " + decimals(f1Of(paragraph, index), 3)),
    );
    button.addEventListener("click", () => chooseRun(run, at));
    return make("li", {}, button);
  });
  const outcome = outcomeOf(paragraph);
  const words = [...about, outcome === "evaluated" ? "" : outcome].filter((one) => one).join(", ");
  const link = make("a", { href: "#" + new URLSearchParams({ q: paragraph.id }) }, paragraph.id);
  const title = make("h3", { id: "card-" + at }, link);
  article.append(make(
    "header",
    {},
    title,
    make("span", { className: "quiet" }, words),
    make("ul", { className: "f1s", "aria-label": "F1 by run" }, ...f1s.filter((one) => one)),
  ));
  article.append(text);
  if (paragraph.text && paragraph.text.length > LONG) article.append(unfolding(text, paragraph));
  article.append(alignment(paragraph));
  light(article);
  return article;
}

function unfolding(text, paragraph) {
  text.classList.add("clamped");
  const all = "Show the whole paragraph (" + Array.from(paragraph.text).length + " characters)";
  const button = make("button", { type: "button", className: "more", "aria-expanded": "false" }, all);
  button.addEventListener("click", () => {
    const isClamped = text.classList.toggle("clamped");
    button.setAttribute("aria-expanded", isClamped ? "false" : "true");
    button.textContent = isClamped ? all : "Show less";
  });
  return button;
}

// Words in the text light up with the units that come of their annotation.
function light(article) {
  const set = (event, isLit) => {
    const item = event.target.closest("[data-annotation]");
    if (!item) return;
    for (const mark of article.querySelectorAll("[data-annotations]")) {
      const is = mark.dataset.annotations.includes(" " + item.dataset.annotation + " ");
      mark.classList.toggle("lit", isLit && is);
    }
  };
  article.addEventListener("pointerover", (event) => set(event, true));
  article.addEventListener("pointerout", (event) => set(event, false));
}
