import { once } from "node:events";
import { createServer } from "node:http";
import sharp from "sharp";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { StdioServer } from "./stdioServer.ts";

const runs = 500;
/** Every tenth test looks for what is not there. */
const failsEvery = 10;
const photosInAll = 40;
const photosOnPage = 6;

/** 500 runs of tests in a real browser, as one page: what a nightly run leaves for people. */
export async function measureReport(sides: Sides): Promise<Measurement[]> {
  const shop = await serveShop();
  const server = sides.ours(await sides.newDataDir());
  try {
    await server.initialize();
    await server.call("save_testcase", { testcase: testcaseOf(shop.url) });
    const ids: string[] = [];
    for (let lamp = 0; lamp < runs; lamp++) ids.push(await runOnce(server, lamp));
    return [{ id: "report500.size", ours: await sizeOf(server, ids), runs }];
  } finally {
    await server.end();
    shop.close();
  }
}

const isToFail = (lamp: number) => lamp % failsEvery === failsEvery - 1;

async function runOnce(server: StdioServer, lamp: number): Promise<string> {
  const text = isToFail(lamp) ? "Sold out" : `Lamp ${lamp} is in the cart`;
  const { structured } = await server.call("execute_testcase", {
    testcase: "buy a lamp",
    inputs: { lamp, text },
    wait_ms: 60_000,
  });
  const expected = isToFail(lamp) ? "failed" : "passed";
  if (structured?.status !== expected)
    throw new Error(`not ${expected}: ${JSON.stringify(structured).slice(0, 500)}`);
  return String(structured.execution_id);
}

async function sizeOf(server: StdioServer, ids: readonly string[]): Promise<number> {
  const { structured } = await server.call("get_execution_report", { execution_id: ids });
  if (structured?.tests !== runs || structured.failed !== runs / failsEvery)
    throw new Error(`not the report of these runs: ${JSON.stringify(structured)}`);
  return Number(structured.bytes) / 1_000_000;
}

function testcaseOf(url: string) {
  const blocks = [
    { id: "start", type: "start" },
    { id: "open", type: "action", command: "navigate_to_url", params: { url: `${url}/lamps/{{lamp}}` } },
    { id: "seen", type: "verification", command: "text_visible", params: { text: "Lamp {{lamp}}" } },
    { id: "buy", type: "action", command: "click_element", params: { selector: "Buy" } },
    // It reads a wrong text, so that it fails on a busy machine, too.
    {
      id: "bought",
      type: "verification",
      command: "element_text",
      params: { selector: "css=#said", text: "{{text}}" },
      timeout_ms: 300,
    },
    { id: "done", type: "success" },
  ];
  const edges = blocks.slice(1).map(({ id }, at) => ({ from: blocks[at]?.id, to: id }));
  return { name: "buy a lamp", inputs: [{ name: "lamp" }, { name: "text" }], blocks, edges };
}

/** No page looks like another, so that no picture stands for two. */
async function serveShop(): Promise<{ url: string; close(): void }> {
  const photos = await Promise.all(Array.from({ length: photosInAll }, photo));
  const server = createServer((request, response) => {
    const [, kind, number = "0"] = (request.url ?? "").split("/");
    if (kind === "photos") return void response.end(photos[Number(number)]);
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(pageOf(Number(number)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The shop has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const pageOf = (lamp: number) => `<!doctype html><meta charset="utf-8"><title>Lamp ${lamp}</title>
<style>body{font:18px sans-serif;margin:30px} main{display:grid;grid-template-columns:repeat(3,1fr);gap:12px} img{width:100%}</style>
<h1>Lamp ${lamp}</h1><p id="said">${(lamp * 7) % 23} in stock</p>
<button onclick="said.textContent='Lamp ${lamp} is in the cart'">Buy</button>
<main>${Array.from({ length: photosOnPage }, (_, at) => `<img src="/photos/${(lamp * 5 + at * (1 + (lamp % 11))) % photosInAll}" alt="">`).join("")}</main>`;

/** As much detail as a photo has: coarse and fine noise over a gradient. */
async function photo(_: unknown, at: number): Promise<Uint8Array> {
  const size = { width: 400, height: 300, channels: 3 as const };
  const noise = (sigma: number) => ({
    create: { ...size, background: "#808080", noise: { type: "gaussian" as const, mean: 128, sigma } },
  });
  const coarse = await sharp(noise(90)).blur(9).normalise().png().toBuffer();
  const fine = await sharp(noise(40)).blur(1).png().toBuffer();
  return sharp(coarse)
    .composite([{ input: fine, blend: "soft-light" }])
    .tint({ r: (at * 53) % 256, g: (at * 97) % 256, b: (at * 151) % 256 })
    .jpeg({ quality: 85 })
    .toBuffer();
}
