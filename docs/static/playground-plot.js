// Draws the points, the border and margins of a model and its probabilities on a canvas.

/** Colors of the classes, told apart with color-blind eyes too; each class has a marker of its own besides. */
export const COLORS = ["#2f7ed8", "#e07b00", "#1f9e6e", "#b0489f"];
/** Points along each side of the grid on which a model is evaluated. */
export const GRID = 81;

/** Where the grid's points are: x and y in turn, from the lower left, row by row. */
export function gridPoints(view) {
  const points = new Float64Array(2 * GRID * GRID);
  for (let row = 0, at = 0; row < GRID; row++) {
    for (let column = 0; column < GRID; column++) {
      points[at++] = view.x0 + ((view.x1 - view.x0) * column) / (GRID - 1);
      points[at++] = view.y0 + ((view.y1 - view.y0) * row) / (GRID - 1);
    }
  }
  return points;
}

/** Segments on which a function given on the grid is 0, in cells from the lower left (marching squares). */
export function contour(f) {
  const segments = [];
  for (let row = 0; row + 1 < GRID; row++) {
    for (let column = 0; column + 1 < GRID; column++) {
      const at = row * GRID + column;
      const [a, b, c, d] = [f[at], f[at + 1], f[at + GRID + 1], f[at + GRID]];
      const cuts = [];
      const cut = (p, q, x0, y0, x1, y1) => {
        if (p > 0 !== q > 0) {
          const t = p / (p - q);
          cuts.push([column + x0 + t * (x1 - x0), row + y0 + t * (y1 - y0)]);
        }
      };
      cut(a, b, 0, 0, 1, 0);
      cut(b, c, 1, 0, 1, 1);
      cut(c, d, 1, 1, 0, 1);
      cut(d, a, 0, 1, 0, 0);
      if (cuts.length === 4) {
        // A saddle: the value in the middle says which corners belong together.
        const isJoined = a + b + c + d > 0 === a > 0;
        const order = isJoined ? [0, 1, 2, 3] : [3, 0, 1, 2];
        segments.push([cuts[order[0]], cuts[order[1]]], [cuts[order[2]], cuts[order[3]]]);
      } else if (cuts.length === 2) {
        segments.push(cuts);
      }
    }
  }
  return segments;
}

const rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

export class Plot {
  constructor(canvas) {
    this.canvas = canvas;
    this.shading = document.createElement("canvas");
    this.shading.width = this.shading.height = GRID;
  }

  /** From the plane to pixels of the page, and back. */
  toScreen(view, x, y) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return [((x - view.x0) / (view.x1 - view.x0)) * width, (1 - (y - view.y0) / (view.y1 - view.y0)) * height];
  }

  toPlane(view, left, top) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return [view.x0 + ((view.x1 - view.x0) * left) / width, view.y0 + (view.y1 - view.y0) * (1 - top / height)];
  }

  /** `state` has view, points, labels, classes, cursor, shown, and the last fit's summary and values, or none. */
  draw(state) {
    const { canvas } = this;
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const ink = style.getPropertyValue("color");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    if (state.values && state.view === state.viewOfValues) {
      if (state.shown.probability) this.shade(context, state, width, height);
      this.lines(context, state, width, height, ink);
    }
    this.axes(context, state.view, width, height, ink);
    const ringed = new Set(state.shown.bases && state.pointsOfValues === state.points ? state.summary?.bases : []);
    state.points.forEach(([x, y], row) => {
      const [left, top] = this.toScreen(state.view, x, y);
      const at = state.classes.indexOf(state.labels[row]);
      marker(context, at, left, top, COLORS[at] ?? ink, style.getPropertyValue("background-color"));
      if (ringed.has(row)) {
        context.beginPath();
        context.arc(left, top, 8.5, 0, 2 * Math.PI);
        context.strokeStyle = ink;
        context.lineWidth = 1.25;
        context.stroke();
      }
    });
    if (state.cursor && document.activeElement === canvas) {
      const [left, top] = this.toScreen(state.view, ...state.cursor);
      context.strokeStyle = ink;
      context.lineWidth = 1.5;
      context.beginPath();
      for (const [dx, dy] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ]) {
        context.moveTo(left + 4 * dx, top + 4 * dy);
        context.lineTo(left + 14 * dx, top + 14 * dy);
      }
      context.stroke();
    }
  }

  /** Each place in the color of its most probable class, the more of it the more probable that is. */
  shade(context, state, width, height) {
    const k = state.summary.classes.length;
    const n = GRID * GRID;
    const probabilities = state.values.subarray(n * (k === 2 ? 1 : k));
    if (probabilities.length !== n * k) return;
    const colors = state.summary.classes.map((name) => rgb(COLORS[state.classes.indexOf(name)] ?? "#888888"));
    const image = new ImageData(GRID, GRID);
    for (let at = 0; at < n; at++) {
      let best = 0;
      for (let one = 1; one < k; one++) {
        if (probabilities[at * k + one] > probabilities[at * k + best]) best = one;
      }
      const sure = Math.max(0, (probabilities[at * k + best] - 1 / k) / (1 - 1 / k));
      const pixel = 4 * ((GRID - 1 - Math.floor(at / GRID)) * GRID + (at % GRID));
      image.data.set(colors[best], pixel);
      image.data[pixel + 3] = 150 * sure;
    }
    this.shading.getContext("2d").putImageData(image, 0, 0);
    // The grid's outer points lie on the edges.
    const [stepX, stepY] = [width / (GRID - 1), height / (GRID - 1)];
    context.imageSmoothingEnabled = true;
    context.drawImage(this.shading, -stepX / 2, -stepY / 2, width + stepX, height + stepY);
  }

  /** The border, and where a decision value is 1 or −1. */
  lines(context, state, width, height, ink) {
    const k = state.summary.classes.length;
    const n = GRID * GRID;
    const drawn = (f, color, lineWidth, dashes) => {
      context.strokeStyle = color;
      context.lineWidth = lineWidth;
      context.setLineDash(dashes);
      context.beginPath();
      for (const path of joined(contour(f))) {
        path.forEach(([column, row], at) => {
          const [left, top] = [(column / (GRID - 1)) * width, (1 - row / (GRID - 1)) * height];
          if (at === 0) context.moveTo(left, top);
          else context.lineTo(left, top);
        });
      }
      context.stroke();
      context.setLineDash([]);
    };
    const values = (one) => Float64Array.from({ length: n }, (_, at) => state.values[k === 2 ? at : at * k + one]);
    if (k === 2) {
      const f = values(0);
      if (state.shown.margins)
        for (const side of [1, -1])
          drawn(
            f.map((v) => v - side),
            ink,
            1.25,
            [6, 5],
          );
      drawn(f, ink, 2.5, []);
      return;
    }
    const all = state.summary.classes.map((_, one) => values(one));
    all.forEach((f, one) => {
      const color = COLORS[state.classes.indexOf(state.summary.classes[one])] ?? ink;
      if (state.shown.margins)
        drawn(
          f.map((v) => v - 1),
          color,
          1.5,
          [6, 5],
        );
      const others = (at) => Math.max(...all.filter((_, other) => other !== one).map((g) => g[at]));
      drawn(
        f.map((v, at) => v - others(at)),
        ink,
        2.5,
        [],
      );
    });
  }

  axes(context, view, width, height, ink) {
    context.fillStyle = ink;
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.font = "12px system-ui, sans-serif";
    context.globalAlpha = 0.75;
    for (const value of ticks(view.x0, view.x1)) {
      const [left] = this.toScreen(view, value, view.y0);
      if (left < 14 || left > width - 14) continue;
      context.textAlign = "center";
      context.fillText(short(value), left, height - 8);
      context.fillRect(left - 0.5, height - 5, 1, 5);
    }
    for (const value of ticks(view.y0, view.y1)) {
      const [, top] = this.toScreen(view, view.x0, value);
      if (top < 14 || top > height - 26) continue;
      context.textAlign = "left";
      context.fillText(short(value), 8, top + 4);
      context.fillRect(0, top - 0.5, 5, 1);
    }
    context.globalAlpha = 1;
  }
}

/** Paths of segments that meet, so that dashes run on. */
function joined(segments) {
  const key = ([x, y]) => `${x.toFixed(6)},${y.toFixed(6)}`;
  const at = new Map();
  segments.forEach((segment, index) => {
    for (const end of segment) at.set(key(end), [...(at.get(key(end)) ?? []), index]);
  });
  const used = new Set();
  const grow = (path) => {
    for (;;) {
      const end = path[path.length - 1];
      const next = at.get(key(end)).find((index) => !used.has(index));
      if (next === undefined) return path;
      used.add(next);
      const [a, b] = segments[next];
      path.push(key(a) === key(end) ? b : a);
    }
  };
  return segments.flatMap((segment, index) => {
    if (used.has(index)) return [];
    used.add(index);
    return [grow(grow([...segment]).reverse())];
  });
}

function ticks(from, to) {
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, at) => (first + at) * step);
}

const short = (value) => String(Number(value.toPrecision(6)));

/** A circle, square, triangle or diamond. */
export function marker(context, at, left, top, color, edge) {
  context.beginPath();
  const r = 5;
  if (at === 1) context.rect(left - 4.4, top - 4.4, 8.8, 8.8);
  else if (at === 2)
    polygon(context, [
      [left, top - 6],
      [left + 5.6, top + 4],
      [left - 5.6, top + 4],
    ]);
  else if (at === 3)
    polygon(context, [
      [left, top - 6.2],
      [left + 6.2, top],
      [left, top + 6.2],
      [left - 6.2, top],
    ]);
  else context.arc(left, top, r, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.fill();
  context.strokeStyle = edge;
  context.lineWidth = 1;
  context.stroke();
}

function polygon(context, corners) {
  corners.forEach(([left, top], at) => (at === 0 ? context.moveTo(left, top) : context.lineTo(left, top)));
  context.closePath();
}
