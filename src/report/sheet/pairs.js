"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const pairs = data.pairs;
const key = "unimatch-sheet-" + data.sheet;
const at = (id) => document.getElementById(id);
let state = { rater: "", ratings: {}, at: 0 };
let keeps = true;
try {
  const kept = JSON.parse(localStorage.getItem(key) || "null");
  if (kept && typeof kept.ratings === "object") state = Object.assign(state, kept);
} catch (error) {
  keeps = false;
}
if (!(state.at >= 0 && state.at < pairs.length)) state.at = 0;

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

function show() {
  const pair = pairs[state.at];
  at("first").textContent = pair.flip ? pair.b : pair.a;
  at("second").textContent = pair.flip ? pair.a : pair.b;
  at("place").textContent = "Pair " + (state.at + 1) + " of " + pairs.length;
  const n = pairs.filter((one) => one.id in state.ratings).length;
  at("progress").max = pairs.length;
  at("progress").value = n;
  at("count").textContent = n + " of " + pairs.length + " rated";
  for (const button of document.querySelectorAll("#scale button")) {
    const is = state.ratings[pair.id] === Number(button.value);
    button.setAttribute("aria-checked", is ? "true" : "false");
  }
}

function go(to) {
  state.at = Math.max(0, Math.min(pairs.length - 1, to));
  save();
  show();
}

function rate(value) {
  state.ratings[pairs[state.at].id] = value;
  if (state.at + 1 < pairs.length) state.at += 1;
  save();
  show();
}

function nextOpen() {
  for (let step = 1; step <= pairs.length; step += 1) {
    const to = (state.at + step) % pairs.length;
    if (!(pairs[to].id in state.ratings)) return go(to);
  }
}

function lines() {
  return pairs
    .filter((pair) => pair.id in state.ratings)
    .map((pair) =>
      JSON.stringify({
        sheet: data.sheet,
        rater: state.rater.trim(),
        id: pair.id,
        draft: pair.draft,
        paragraph: pair.paragraph,
        kind: "natural",
        a: pair.a,
        b: pair.b,
        rating: state.ratings[pair.id],
      }) + "\n")
    .join("");
}

function exportAll() {
  if (state.rater.trim() === "") {
    at("note").textContent = "Fill in your name first.";
    at("rater").focus();
    return;
  }
  const link = document.createElement("a");
  const blob = new Blob([lines()], { type: "application/x-ndjson" });
  link.href = URL.createObjectURL(blob);
  link.download = data.sheet + "-" + state.rater.trim().replace(/[^\p{L}\p{N}]+/gu, "_") + ".jsonl";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  at("note").textContent = "Exported as " + link.download;
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
for (const button of document.querySelectorAll("#scale button")) {
  button.addEventListener("click", () => rate(Number(button.value)));
}
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-4]$/.test(event.key)) rate(Number(event.key));
  else if (event.key === "ArrowLeft") go(state.at - 1);
  else if (event.key === "ArrowRight") go(state.at + 1);
  else if (event.key === "Backspace" || event.key === "Delete") {
    delete state.ratings[pairs[state.at].id];
    save();
    show();
  } else return;
  event.preventDefault();
});
save();
show();
