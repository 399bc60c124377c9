// The playground: what the visitor does, and what is said of it. The fits run in playground-worker.js, and
// playground-plot.js draws.

import { example } from "./playground-examples.js";
import { COLORS, Plot, gridPoints, marker } from "./playground-plot.js";

const PLANE = { x0: 0, x1: 10, y0: 0, y1: 10 };
const NAMES = ["A", "B", "C", "D"];
const METHODS = { "basis-expansion": "basis expansion", "thin-plate": "thin plate", "power-mean": "power mean" };
// What a method compares with, after its own choice.
const SIMILARITIES = {
  "basis-expansion": [
    "rbf",
    "laplacian",
    "linear",
    "polynomial",
    "sigmoid",
    "distance",
    "thin-plate",
    "cityblock",
    "canberra",
  ],
  "thin-plate": ["distance", "thin-plate", "cubic", "cityblock"],
  "power-mean": ["power-mean:p=-1", "hellinger", "intersection", "jensen-shannon"],
};

const byId = (id) => document.getElementById(`playground-${id}`);
const canvas = byId("plot");
const plot = new Plot(canvas);
const state = {
  view: PLANE,
  points: [],
  labels: [],
  classes: NAMES,
  cursor: null,
  shown: { probability: true, margins: true, bases: true },
  axes: ["x", "y"],
  tool: 0,
};
// Former points and labels, and those that were undone.
const past = [];

// ---- the workers ----------------------------------------------------------------------------------------------------

/** The library in a worker of its own. */
class Library {
  waiting = new Map();
  /** The last answer that was asked for. */
  last = Promise.resolve();

  constructor() {
    this.start();
  }

  start() {
    this.worker = new Worker(new URL("playground-worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      const done = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.isTrap) {
        this.worker.terminate();
        this.start();
      }
      done?.(data);
    };
    this.worker.onerror = () => say("problem", "The playground could not be started: its files are missing on this site.");
  }

  ask(question) {
    this.last = new Promise((resolve) => {
      const id = Library.nextId++;
      this.waiting.set(id, resolve);
      this.worker.postMessage({ ...question, id });
    });
    return this.last;
  }

  static nextId = 1;
}

// One follows the clicks with what was chosen last; the other compares, which takes longer, and is not waited for.
const follower = new Library();
const chooser = new Library();
// The one whose model is shown.
let holder = follower;

// ---- fits -----------------------------------------------------------------------------------------------------------

let isFitting = false;
// How often the visitor changed something, and a promise of the next time.
let changes = 0;
let tellChange;
let changed = new Promise((resolve) => (tellChange = resolve));
// The last choice of method and similarity, and its question.
let choice = null;

function request() {
  const method = byId("method").value;
  const isGiven = method !== "auto";
  const number = (id) => (isGiven && byId(id).value.trim() !== "" ? Number(byId(id).value) : null);
  return {
    points: state.points,
    labels: state.labels,
    method,
    similarity: isGiven ? byId("similarity").value : "auto",
    n_basis: method === "basis-expansion" ? number("n-basis") : null,
    C: number("c"),
  };
}

// What can be said without a fit.
function unfit(question) {
  for (const [id, name] of [
    ["c", "C"],
    ["n-basis", "The number of bases"],
  ]) {
    const { value, validity } = byId(id);
    if (validity.badInput || (value.trim() !== "" && !(Number(value) > 0)))
      return `${name} must be a number above 0, or empty.`;
  }
  if (question.n_basis !== null && !Number.isInteger(question.n_basis))
    return "The number of bases must be a whole number.";
  return null;
}

const isOpen = (question) => question.method === "auto" || question.similarity === "auto";
// What must be the same for a choice to be of use.
const openKey = ({ method, n_basis: nBasis, C }) => JSON.stringify([method, nBasis, C]);

/** Fits what is there now; of changes during a fit only the last is fitted. */
async function fit() {
  changes += 1;
  tellChange();
  changed = new Promise((resolve) => (tellChange = resolve));
  draw();
  if (isFitting) return;
  isFitting = true;
  let answered;
  do {
    answered = changes;
    await fitOnce();
  } while (answered !== changes);
  isFitting = false;
  canvas.dataset.fits = String(Number(canvas.dataset.fits ?? 0) + 1);
}

/** First with what was chosen last, if something was, then with what the points now ask for; ends early if they change. */
async function fitOnce() {
  const [change, next, question, view, points] = [changes, changed, request(), state.view, state.points];
  const isOutdated = () => change !== changes;
  const start = performance.now();
  const problem = unfit(question);
  if (problem) return show({ problem }, {});
  const asked = { ask: "fit", points: gridPoints(view) };
  const known = isOpen(question) && choice?.key === openKey(question) ? choice.chosen : null;
  let followedMs = null;
  if (known || !isOpen(question)) {
    const answer = await follower.ask({ ...asked, request: { ...question, ...known } });
    // A choice of other points may not fit these: then there is another, or its problem is shown.
    if (!known || !answer.problem) {
      followedMs = performance.now() - start;
      show(answer, { question, view, points, library: follower, ms: followedMs, isPassing: known !== null });
    }
    if (!known) return;
  }
  await Promise.race([chooser.last, next]);
  if (isOutdated()) return;
  const chosen = chooser.ask({ ...asked, request: question }).then((answer) => {
    if (answer.summary) {
      const { method, similarity } = answer.summary;
      choice = { key: openKey(question), chosen: { method, similarity } };
    }
    return answer;
  });
  const answer = await Promise.race([chosen, next]);
  if (isOutdated()) return;
  const chosenMs = performance.now() - start;
  const library = chooser;
  show(answer, { question, view, points, library, ms: followedMs ?? chosenMs, chosenMs: followedMs && chosenMs });
}

/** Draws a fit, and says what there is to say of it. */
function show(answer, { question, view, points, library, ...message }) {
  if (answer.problem) {
    state.values = null;
    state.summary = null;
    say("problem", answer.problem);
    byId("code").textContent = "";
    byId("save-model").disabled = true;
    draw();
    return;
  }
  holder = library;
  Object.assign(state, {
    values: answer.values,
    summary: answer.summary,
    viewOfValues: view,
    pointsOfValues: points,
  });
  draw();
  tell(question, answer, message);
}

// ---- words ----------------------------------------------------------------------------------------------------------

function say(kind, text) {
  const box = byId("said");
  box.className = kind;
  box.replaceChildren(text);
}

const rounded = (value) => String(Number(value.toPrecision(3)));

/** `ms` until something was shown, `chosenMs` until what is open was chosen anew; `isPassing` if that is still to come. */
function tell(question, { summary, fitMs, evaluateMs }, { ms, chosenMs = null, isPassing = false }) {
  const facts = [
    ["Method", METHODS[summary.method] ?? summary.method],
    [summary.method === "basis-expansion" ? "Similarity" : "Kernel", summary.similarity],
    ["C", [...new Set(summary.C.map(rounded))].join(", ")],
  ];
  if (summary.bases) facts.push(["Bases", `${summary.bases.length} of ${question.points.length} points`]);
  if (summary.estimated_error !== null) {
    facts.push(["Expected error", `${(100 * summary.estimated_error).toFixed(1)} %, by leaving points out`]);
  }
  const parts = `fit ${fitMs.toFixed(0)}, plot ${evaluateMs.toFixed(0)}`;
  const time = chosenMs === null ? `${ms.toFixed(0)} ms (${parts})` : `${ms.toFixed(0)} ms, ${chosenMs.toFixed(0)} to choose`;
  facts.push(["Time", isPassing ? `${time}; choosing anew …` : time]);
  const list = document.createElement("dl");
  for (const [name, value] of facts) {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  }
  const said = [list];
  if (summary.tried.length > 1) {
    const compared = summary.tried.map(({ method, similarity, loss, problem }) =>
      problem ? `${METHODS[method]} failed: ${problem}` : `${METHODS[method]} (${similarity}) ${loss.toFixed(3)}`,
    );
    const text = document.createElement("p");
    text.textContent = `Compared by leave-one-out loss: ${compared.join(", ")}.`;
    said.push(text);
  }
  for (const warning of summary.warnings) {
    const text = document.createElement("p");
    text.className = "warning";
    text.textContent = `Warning: ${warning}.`;
    said.push(text);
  }
  const box = byId("said");
  box.className = isPassing ? "passing" : "fitted";
  box.replaceChildren(...said);
  box.dataset.ms = ms.toFixed(1);
  box.dataset.chosenMs = chosenMs?.toFixed(1) ?? "";
  byId("code").textContent = python(question);
  byId("save-model").disabled = false;
}

/** The same fit in Python. */
function python({ method, similarity, n_basis: nBasis, C }) {
  const [name, parameter] = {
    auto: ["AutoSVC", ""],
    "basis-expansion": ["BasisExpansionSVC", "similarity"],
    "thin-plate": ["ThinPlateSVC", "kernel"],
    "power-mean": ["PowerMeanSVC", "kernel"],
  }[method];
  const given = [];
  const power = similarity.match(/^power-mean:p=(.*)$/);
  if (power) given.push(`p=${power[1]}`);
  else if (similarity !== "auto") {
    // There names have underscores.
    const value = method === "power-mean" ? similarity.replaceAll("-", "_") : similarity;
    given.push(`${parameter}="${value}"`);
  }
  if (nBasis !== null) given.push(`n_basis=${nBasis}`);
  if (C !== null) given.push(`C=${C}`);
  return `wm.${name}(${given.join(", ")}).fit(X, y)`;
}

function describePlot() {
  const counts = state.classes.map((name) => [name, state.labels.filter((label) => label === name).length]);
  const counted = counts.filter(([, n]) => n > 0).map(([name, n]) => `${n} of class ${name}`);
  canvas.setAttribute(
    "aria-label",
    `Plot of ${state.axes[1]} against ${state.axes[0]}: ${counted.length ? counted.join(", ") : "no points"}`,
  );
  byId("count").textContent = counted.length ? `${state.points.length} points: ${counted.join(", ")}` : "no points";
}

function draw() {
  plot.draw(state);
}

// ---- points ---------------------------------------------------------------------------------------------------------

function change(points, labels) {
  past.push([state.points, state.labels]);
  [state.points, state.labels] = [points, labels];
  byId("undo").disabled = false;
  describePlot();
  fit();
}

function replaceAll(points, labels, { view = PLANE, classes = NAMES, axes = ["x", "y"] } = {}) {
  Object.assign(state, { view, axes, cursor: null });
  // Of other points.
  choice = null;
  if (classes !== state.classes) past.length = 0;
  state.classes = classes;
  nameClasses();
  change(points, labels);
  byId("axes").textContent = axes[0] === "x" && axes[1] === "y" ? "" : `${axes[0]} to the right, ${axes[1]} upwards`;
}

function use([x, y], tool = state.tool) {
  if (tool !== "erase") {
    change([...state.points, [x, y]], [...state.labels, state.classes[tool]]);
    return;
  }
  const [left, top] = plot.toScreen(state.view, x, y);
  const distance = (point) => Math.hypot(...plot.toScreen(state.view, ...point).map((v, at) => v - [left, top][at]));
  const nearest = state.points.reduce(
    (best, point, row) => (distance(point) < distance(state.points[best] ?? [1e9, 1e9]) ? row : best),
    0,
  );
  if (!state.points.length || distance(state.points[nearest]) > 24) return;
  const without = (list) => list.filter((_, row) => row !== nearest);
  change(without(state.points), without(state.labels));
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const box = canvas.getBoundingClientRect();
  use(
    plot.toPlane(state.view, event.clientX - box.left - canvas.clientLeft, event.clientY - box.top - canvas.clientTop),
    event.shiftKey ? "erase" : state.tool,
  );
});

canvas.addEventListener("keydown", (event) => {
  const { view } = state;
  const step = (event.shiftKey ? 0.1 : 0.02) * (view.x1 - view.x0);
  const stepY = (step / (view.x1 - view.x0)) * (view.y1 - view.y0);
  const [x, y] = state.cursor ?? [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, stepY], ArrowDown: [0, -stepY] };
  const within = (value, from, to) => Math.min(to, Math.max(from, value));
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves) {
    const [dx, dy] = moves[event.key];
    state.cursor = [within(x + dx, view.x0, view.x1), within(y + dy, view.y0, view.y1)];
    draw();
  } else if (event.key === "Enter" || event.key === " ") {
    use([x, y]);
  } else if (event.key === "Delete" || event.key === "Backspace") {
    use([x, y], "erase");
  } else if (/^[1-4]$/.test(event.key) && state.classes[event.key - 1]) {
    const radio = byId(`class-${event.key - 1}`);
    radio.checked = true;
    state.tool = Number(event.key) - 1;
  } else {
    return;
  }
  event.preventDefault();
});
canvas.addEventListener("focus", () => {
  // A click leaves no cross behind; Tab shows where the next point goes.
  if (canvas.matches(":focus-visible"))
    state.cursor ??= [(state.view.x0 + state.view.x1) / 2, (state.view.y0 + state.view.y1) / 2];
  draw();
});
canvas.addEventListener("blur", draw);

// ---- examples and tables --------------------------------------------------------------------------------------------

let table = null;

async function readFile(file) {
  if (file.size > 20e6) {
    say(
      "problem",
      `The file ${file.name} has ${(file.size / 1e6).toFixed(0)} MB; the playground reads tables up to 20 MB.`,
    );
    return;
  }
  const answer = await follower.ask({ ask: "table", bytes: await file.arrayBuffer() });
  if (answer.problem) {
    say("problem", `${file.name}: ${answer.problem}`);
    return;
  }
  table = answer.table;
  const options = (id, allowed, chosen) =>
    byId(id).replaceChildren(
      ...table.columns.flatMap(({ name }, at) =>
        allowed(table.columns[at]) ? [new Option(name, at, at === chosen, at === chosen)] : [],
      ),
    );
  options("column-x", ({ numbers }) => numbers, table.suggested[0]);
  options("column-y", ({ numbers }) => numbers, table.suggested[1]);
  options("column-class", ({ n_distinct: n }) => n >= 2 && n <= 4, table.suggested[2]);
  byId("columns").hidden = false;
  showTable();
  const taken = table.columns[0].texts.length;
  byId("taken").textContent =
    taken < table.n_rows
      ? `${file.name}: ${taken} of ${table.n_rows} rows, evenly spaced`
      : `${file.name}: ${taken} rows`;
}

function showTable() {
  const [x, y, label] = ["x", "y", "class"].map((id) => table.columns[byId(`column-${id}`).value]);
  const points = x.numbers.map((value, row) => [value, y.numbers[row]]);
  const classes = [...new Set(label.texts)].sort();
  const [x0, x1] = bounds(x.numbers);
  const [y0, y1] = bounds(y.numbers);
  replaceAll(points, label.texts, { view: { x0, x1, y0, y1 }, classes, axes: [x.name, y.name] });
}

/** A little more than the range; not below 0 where no value is. */
function bounds(numbers) {
  const [low, high] = numbers.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const room = 0.06 * (high - low) || Math.abs(high) || 1;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

function download(name, bytes, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function asCsv() {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = state.points.map(([x, y], row) => `${x},${y},${quoted(state.labels[row])}`);
  return `${state.axes.map(quoted).join(",")},class\n${rows.join("\n")}\n`;
}

// ---- controls -------------------------------------------------------------------------------------------------------

function nameClasses() {
  NAMES.forEach((_, at) => {
    const name = state.classes[at];
    byId(`class-${at}`).parentElement.hidden = name === undefined;
    if (name !== undefined) byId(`class-name-${at}`).textContent = name;
  });
  if (typeof state.tool === "number" && state.classes[state.tool] === undefined) {
    state.tool = 0;
    byId("class-0").checked = true;
  }
}

function showOptions() {
  const method = byId("method").value;
  for (const id of ["similarity", "c"]) byId(id).closest("label").hidden = method === "auto";
  byId("n-basis").closest("label").hidden = method !== "basis-expansion";
  byId("similarity-name").textContent = method === "basis-expansion" ? "Similarity" : "Kernel";
  const options = (SIMILARITIES[method] ?? []).map((spec) => new Option(spec, spec));
  byId("similarity").replaceChildren(new Option("let it choose", "auto"), ...options);
}

for (const swatch of document.querySelectorAll("#playground-app canvas.swatch")) {
  const scale = window.devicePixelRatio || 1;
  swatch.width = swatch.height = 16 * scale;
  const context = swatch.getContext("2d");
  context.scale(scale, scale);
  marker(context, Number(swatch.dataset.class), 8, 8, COLORS[swatch.dataset.class], "transparent");
}
for (const radio of document.querySelectorAll("#playground-app input[name=playground-tool]")) {
  radio.addEventListener("change", () => {
    state.tool = radio.value === "erase" ? "erase" : Number(radio.value);
  });
}
for (const name of ["probability", "margins", "bases"]) {
  byId(`show-${name}`).addEventListener("change", ({ target }) => {
    state.shown[name] = target.checked;
    draw();
  });
}
byId("method").addEventListener("change", () => {
  showOptions();
  fit();
});
byId("similarity").addEventListener("change", fit);
for (const id of ["c", "n-basis"]) byId(id).addEventListener("input", fit);
byId("example").addEventListener("change", ({ target }) => {
  byId("columns").hidden = true;
  replaceAll(...example(target.value, NAMES));
});
byId("file").addEventListener("change", async ({ target }) => {
  if (target.files.length) await readFile(target.files[0]);
  // So that the same file may be chosen again after it was changed.
  target.value = "";
});
for (const id of ["x", "y", "class"]) byId(`column-${id}`).addEventListener("change", showTable);
byId("undo").addEventListener("click", () => {
  [state.points, state.labels] = past.pop();
  byId("undo").disabled = past.length === 0;
  describePlot();
  fit();
});
byId("clear").addEventListener("click", () => {
  byId("columns").hidden = true;
  replaceAll([], []);
});
byId("save-points").addEventListener("click", () => download("points.csv", asCsv(), "text/csv"));
byId("save-model").addEventListener("click", async () => {
  const { bytes, problem } = await holder.ask({ ask: "model" });
  if (problem) say("problem", problem);
  else download("playground.model", bytes, "application/octet-stream");
});
new ResizeObserver(draw).observe(canvas);
new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

// For scripts, such as the test of this page.
window.widemarginPlayground = {
  state,
  evaluate: async (points) => (await holder.ask({ ask: "evaluate", points: Float64Array.from(points.flat()) })).values,
  model: async () => (await holder.ask({ ask: "model" })).bytes,
  replaceAll,
};

showOptions();
nameClasses();
replaceAll(...example(byId("example").value, NAMES));
past.length = 0;
byId("undo").disabled = true;
