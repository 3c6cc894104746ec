"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const sets = data.sets;
const key = "unimatch-sheet-" + data.sheet;
const at = (id) => document.getElementById(id);
let state = { rater: "", ranks: {}, at: 0 };
let chosen = 0;
let keeps = true;
try {
  const kept = JSON.parse(localStorage.getItem(key) || "null");
  if (kept && typeof kept.ranks === "object") state = Object.assign(state, kept);
} catch (error) {
  keeps = false;
}
if (!(state.at >= 0 && state.at < sets.length)) state.at = 0;

const isDone = (set) => set.texts.every((text) => text.id in state.ranks);

function save() {
  try {
    localStorage.setItem(key, JSON.stringify(state));
  } catch (error) {
    keeps = false;
  }
  at("kept").textContent = keeps
    ? "Saved in this browser."
    : "This browser saves nothing: export before you close the page.";
  at("kept").className = keeps ? "quiet" : "quiet warning";
}

function element(kind, text, className) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function card(text, index, nTexts) {
  const box = element("article", undefined, index === chosen ? "unit chosen" : "unit");
  box.append(element("h2", "Text " + "ABCDEFGH"[index]));
  const body = element("p", text.text);
  body.dir = "auto";
  const scale = element("div", undefined, "scale");
  scale.setAttribute("role", "radiogroup");
  scale.setAttribute("aria-label", "rank of text " + "ABCDEFGH"[index]);
  for (let rank = 1; rank <= nTexts; rank += 1) {
    const words = rank === 1 ? "says most" : rank === nTexts ? "says least" : "between";
    const button = element("button", String(rank));
    button.title = words;
    button.setAttribute("aria-label", rank + ", " + words);
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", state.ranks[text.id] === rank ? "true" : "false");
    button.addEventListener("click", () => rankText(index, rank));
    scale.append(button);
  }
  box.append(body, scale);
  box.addEventListener("click", () => {
    if (chosen !== index) {
      chosen = index;
      for (const [place, other] of [...at("texts").children].entries()) {
        other.className = place === chosen ? "unit chosen" : "unit";
      }
    }
  });
  return box;
}

function show() {
  const set = sets[state.at];
  at("place").textContent = "Set " + (state.at + 1) + " of " + sets.length;
  at("gold").replaceChildren(...set.gold.map((unit) => element("li", unit)));
  at("texts").replaceChildren(...set.texts.map((text, index) => card(text, index, set.texts.length)));
  const n = sets.filter(isDone).length;
  at("progress").max = sets.length;
  at("progress").value = n;
  at("count").textContent = n + " of " + sets.length + " ranked";
}

function go(to) {
  state.at = Math.max(0, Math.min(sets.length - 1, to));
  chosen = 0;
  save();
  show();
}

function rankText(index, rank) {
  const set = sets[state.at];
  if (index >= set.texts.length || rank > set.texts.length) return;
  state.ranks[set.texts[index].id] = rank;
  chosen = Math.min(index + 1, set.texts.length - 1);
  save();
  show();
}

function nextOpen() {
  for (let step = 1; step <= sets.length; step += 1) {
    const to = (state.at + step) % sets.length;
    if (!isDone(sets[to])) return go(to);
  }
}

function exportAll() {
  const rater = state.rater.trim();
  if (rater === "") {
    at("note").textContent = "Fill in your name first.";
    at("rater").focus();
    return;
  }
  const lines = sets.filter(isDone).flatMap((set) =>
    set.texts.map((text) =>
      JSON.stringify({ sheet: data.sheet, rater, id: set.id, text: text.id, rank: state.ranks[text.id] }) + "\n"));
  const nHalf = sets.filter((set) => !isDone(set) && set.texts.some((text) => text.id in state.ranks)).length;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  link.download = data.sheet + "-" + rater.replace(/[^\p{L}\p{N}]+/gu, "_") + ".jsonl";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  at("note").textContent = "Exported as " + link.download +
    (nHalf ? ", without " + nHalf + " sets that are ranked in part." : ".");
}

at("rater").value = state.rater;
at("rater").addEventListener("input", (event) => {
  state.rater = event.target.value;
  save();
});
at("back").addEventListener("click", () => go(state.at - 1));
at("forth").addEventListener("click", () => go(state.at + 1));
at("open").addEventListener("click", nextOpen);
at("export").addEventListener("click", exportAll);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const set = sets[state.at];
  const letter = "abcdefgh".indexOf(event.key.toLowerCase());
  if (event.key.length === 1 && letter >= 0 && letter < set.texts.length) {
    chosen = letter;
    show();
  } else if (/^[1-9]$/.test(event.key)) rankText(chosen, Number(event.key));
  else if (event.key === "ArrowLeft") go(state.at - 1);
  else if (event.key === "ArrowRight") go(state.at + 1);
  else if (event.key === "Backspace" || event.key === "Delete") {
    delete state.ranks[set.texts[chosen].id];
    save();
    show();
  } else return;
  event.preventDefault();
});
save();
show();
