import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

const require = createRequire(import.meta.url);
const { env, InferenceSession, Tensor } = require("onnxruntime-web");
env.wasm.numThreads = 1;

/** Silero VAD 5 takes 512 samples with the 64 before them, and its own state. */
const [size, before] = [512, 64];
const model = readFileSync(require.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx"));
// Its warnings about the model would go to the daemon's log.
const session = await InferenceSession.create(model, { executionProviders: ["wasm"], logSeverityLevel: 4 });
const sr = new Tensor("int64", [16_000n]);
let state = new Tensor("float32", new Float32Array(2 * 128), [2, 1, 128]);
const samples = new Float32Array(before + workerData.length);
samples.set(workerData, before);
const likely = new Float32Array(Math.floor(workerData.length / size));
for (let at = 0; at < likely.length; at++) {
  const part = samples.slice(at * size, at * size + before + size);
  const { output, stateN } = await session.run({
    input: new Tensor("float32", part, [1, before + size]),
    state,
    sr,
  });
  state = stateN;
  likely[at] = output.data[0];
}
parentPort.postMessage(likely);
