// Points to begin with.

// Random numbers that are the same on every visit.
function random(seed) {
  let s = seed;
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Points and labels of an example, by its value in the page. */
export function example(name, names) {
  const uniform = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const [points, labels] = [[], []];
  const put = (x, y, one) => {
    points.push([x, y].map((v) => Math.round(100 * Math.min(9.8, Math.max(0.2, v))) / 100));
    labels.push(names[one]);
  };
  const blobs = (centers, n, spread) =>
    centers.forEach(([x, y, one]) => {
      for (let i = 0; i < n; i++) put(x + spread * normal(), y + spread * normal(), one);
    });
  const curves = {
    moons: () => {
      for (let i = 0; i < 50; i++) {
        const angle = Math.PI * uniform();
        put(4 + 2.6 * Math.cos(angle) + 0.35 * normal(), 4.7 + 2.8 * Math.sin(angle) + 0.35 * normal(), 0);
        put(6.2 + 2.6 * Math.cos(angle) + 0.35 * normal(), 5.3 - 2.8 * Math.sin(angle) + 0.35 * normal(), 1);
      }
    },
    rings: () => {
      for (let i = 0; i < 100; i++) {
        const [angle, radius] = [2 * Math.PI * uniform(), i % 2 ? 3.7 : 1.6];
        put(5 + radius * Math.cos(angle) + 0.4 * normal(), 5 + radius * Math.sin(angle) + 0.4 * normal(), i % 2);
      }
    },
    chess: () =>
      blobs(
        [
          [3, 3, 0],
          [7, 7, 0],
          [3, 7, 1],
          [7, 3, 1],
        ],
        25,
        0.9,
      ),
    three: () =>
      blobs(
        [
          [2.8, 3, 0],
          [7.2, 3.4, 1],
          [5, 7.3, 2],
        ],
        30,
        1.05,
      ),
    four: () =>
      blobs(
        [
          [3, 3, 0],
          [7, 3, 1],
          [7, 7, 2],
          [3, 7, 3],
        ],
        50,
        1.1,
      ),
    spirals: () => {
      for (let i = 0; i < 100; i++) {
        const [turn, one] = [0.6 + 2.9 * Math.sqrt(uniform()), i % 2];
        const angle = 2.2 * turn + Math.PI * one;
        put(
          5 + 1.25 * turn * Math.cos(angle) + 0.12 * normal(),
          5 + 1.25 * turn * Math.sin(angle) + 0.12 * normal(),
          one,
        );
      }
    },
  };
  curves[name]();
  return [points, labels];
}
