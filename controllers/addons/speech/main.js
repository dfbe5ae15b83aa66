import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * How likely each 32 ms of a sound are speech, 0 to 1. `samples`: one channel, 16,000 a second, a Float32Array. Runs in a thread of
 * its own, whose 130 MB are free afterwards. Rejects when `signal` aborts or the thread fails.
 */
export async function speechIn(samples, signal) {
  const thread = new Worker(new URL("thread.js", import.meta.url), { workerData: samples });
  try {
    const [likely] = await once(thread, "message", { signal });
    return likely;
  } finally {
    await thread.terminate();
  }
}
