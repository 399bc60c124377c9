// Runs the library, compiled to WebAssembly, in a thread of its own, so that drawing and clicking never wait for a fit.
// Takes messages { id, ask, … } and answers { id, … } or { id, problem }, a sentence for people.

const library = WebAssembly.compileStreaming === undefined ? null : load();

async function load() {
  const answer = await fetch(new URL("playground.wasm", import.meta.url));
  if (!answer.ok) {
    throw new Error(
      "This site was built without the playground: the WebAssembly target of Rust was not installed. " +
        "Build it again after `rustup target add wasm32-unknown-unknown`.",
    );
  }
  const host = { seconds_now: () => performance.now() / 1000 };
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), { host });
  return instance.exports;
}

// Writes the input, calls a function of the library, and returns a copy of the output's bytes.
function call(exports, name, input) {
  const at = exports.widemargin_input(input.byteLength);
  new Uint8Array(exports.memory.buffer, at, input.byteLength).set(input);
  const failed = exports[name]();
  const output = new Uint8Array(exports.memory.buffer, exports.widemargin_output(), exports.widemargin_output_length());
  if (failed) throw new Error(new TextDecoder().decode(output));
  return output.slice();
}

const encoded = (value) => new TextEncoder().encode(JSON.stringify(value));
const decoded = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

// Decision values, a row a point, and after them probabilities.
function evaluate(exports, points) {
  const input = new Uint8Array(points.buffer, points.byteOffset, points.byteLength);
  return new Float64Array(call(exports, "widemargin_evaluate", input).buffer);
}

const asks = {
  fit(exports, { request, points }) {
    const start = performance.now();
    const summary = decoded(call(exports, "widemargin_fit", encoded(request)));
    const fitted = performance.now();
    const values = evaluate(exports, points);
    return { summary, values, fitMs: fitted - start, evaluateMs: performance.now() - fitted };
  },
  evaluate: (exports, { points }) => ({ values: evaluate(exports, points) }),
  model: (exports) => ({ bytes: call(exports, "widemargin_model", new Uint8Array(0)) }),
  table: (exports, { bytes }) => ({ table: decoded(call(exports, "widemargin_table", new Uint8Array(bytes))) }),
};

self.onmessage = async ({ data }) => {
  try {
    if (library === null) throw new Error("This browser cannot run WebAssembly.");
    self.postMessage({ id: data.id, ...asks[data.ask](await library, data) });
  } catch (error) {
    // A trap leaves the module in an unknown state: the page starts another worker.
    const isTrap = error instanceof WebAssembly.RuntimeError;
    const lacksVectors = error instanceof WebAssembly.CompileError;
    const problem = isTrap
      ? `The library stopped unexpectedly (${error.message}). Please report it with the points that led to it.`
      : lacksVectors
        ? "This browser is too old for the playground: its WebAssembly has no vectors (SIMD)."
        : error.message;
    self.postMessage({ id: data.id, problem, isTrap });
  }
};
