import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { serve } from "../../fixtures/loopback.ts";
import { newAddress, openPage, startBrowser } from "../../page/pages.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median } from "../statistics.ts";
import { type LookedAt, startLookedAt } from "./daemon.ts";

const changes = 40;
const cpu = { seconds: 10, viewers: 10 };
const bits = 20;

/** Shows the time in ms, modulo 2^20, as black and white bars; anew after 600 to 1,000 ms, or with `?all` 20 times a second. */
const clockPage = `<!doctype html><body style="margin:0"><canvas width=640 height=360></canvas><script>
  const bars = document.querySelector("canvas").getContext("2d");
  const isFast = location.search === "?all";
  function show() {
    const now = Date.now() % 2 ** ${bits};
    for (let bit = 0; bit < ${bits}; bit++) {
      bars.fillStyle = now & (1 << bit) ? "white" : "black";
      bars.fillRect(bit * 32, 0, 32, 360);
    }
    setTimeout(show, isFast ? 50 : 600 + Math.random() * 400);
  }
  show();
</script>`;

/** Runs in the page: reads its own picture at each frame, and returns how old each new time is when it is first seen. */
const readDelays = `async (image) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [640, 8];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const delays = [];
  let last;
  while (delays.length <= ${changes}) {
    await new Promise(requestAnimationFrame);
    context.drawImage(image, 0, 100, 640, 8, 0, 0, 640, 8);
    const { data } = context.getImageData(0, 4, 640, 1);
    let time = 0;
    for (let bit = 0; bit < ${bits}; bit++) if (data[4 * (bit * 32 + 16)] > 127) time |= 1 << bit;
    if (time === last) continue;
    if (last !== undefined) delays.push((Date.now() - time + 2 ** ${bits}) % 2 ** ${bits});
    last = time;
  }
  return delays.slice(1);
}`;

const device = "lab/browser";

async function show(daemon: LookedAt, url: string): Promise<void> {
  const actions = [{ command: "navigate_to_url", params: { url } }];
  await daemon.call("execute_device_action", { device_id: device, actions });
}

async function delays(daemon: LookedAt): Promise<number[]> {
  const browser = await startBrowser();
  try {
    const { page } = await openPage(
      browser,
      await newAddress(daemon, `/devices/${encodeURIComponent(device)}`),
    );
    const picture = page.getByRole("img", { name: `What ${device} shows now` });
    while (!(Number(await picture.evaluate("(image) => image.naturalWidth")) > 0)) await pause(50);
    return z
      .array(z.number())
      .length(changes)
      .parse(await picture.evaluate(readDelays));
  } finally {
    await browser.close();
  }
}

/** Takes the live picture's parts and drops them. Returns how many pictures came. */
async function watch(daemon: LookedAt, signal: AbortSignal): Promise<number> {
  const file = daemon.file();
  const path = `/api/v1/devices/${encodeURIComponent(device)}/live-address`;
  const answer = await fetch(daemonUrl(file, path), { headers: daemonHeaders(file, "bench") });
  const { href } = z.object({ href: z.string() }).parse(await answer.json());
  const { body } = await fetch(daemonUrl(file, href), { signal });
  let pictures = 0;
  try {
    for await (const part of body ?? [])
      pictures += Buffer.from(part).toString("latin1").split("Content-Type").length - 1;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return pictures;
}

/** User and system time of a process so far, in seconds; its children's do not count. Linux counts 100 ticks a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** CPU seconds a second, and pictures a second of each viewer. */
async function loadOf(daemon: LookedAt, viewers: number) {
  const stop = new AbortController();
  const watching = Array.from({ length: viewers }, () => watch(daemon, stop.signal));
  await pause(1_000);
  const [before, from] = [await cpuSeconds(daemon.pid), performance.now()];
  await pause(cpu.seconds * 1_000);
  const seconds = (performance.now() - from) / 1_000;
  const load = ((await cpuSeconds(daemon.pid)) - before) / seconds;
  stop.abort();
  const pictures = await Promise.all(watching);
  return { load, perSecond: median(pictures) / (seconds + 1) };
}

/** The live picture of a browser: its delay in the page, and what each further viewer costs the daemon. */
export async function measureLive({ sides, note }: Bench): Promise<Measurement[]> {
  const site = await serve((_, response) => response.setHeader("content-type", "text/html").end(clockPage));
  const daemon = await startLookedAt(sides, await sides.newDataDir());
  try {
    await show(daemon, site.url);
    const found = (await delays(daemon)).toSorted((a, b) => a - b);
    const late = found[Math.ceil(0.95 * found.length) - 1] ?? Number.NaN;
    note(`live: delay ${median(found)} ms (median), ${late} ms (p95), ${found.at(-1)} ms (worst)`);
    await show(daemon, `${site.url}/?all`);
    const one = await loadOf(daemon, 1);
    const many = await loadOf(daemon, 1 + cpu.viewers);
    const rate = ({ perSecond }: typeof one) => perSecond.toFixed(1);
    note(
      `live: CPU ${one.load.toFixed(3)} with 1 viewer, ${many.load.toFixed(3)} with ${1 + cpu.viewers}; ${rate(one)} and ${rate(many)} pictures a second`,
    );
    return [
      { id: "live.delay", ours: late, runs: found.length },
      { id: "live.viewer", ours: (many.load - one.load) / cpu.viewers, runs: cpu.viewers },
    ];
  } finally {
    await daemon.end();
    await site.close();
  }
}
