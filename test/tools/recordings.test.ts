import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { changeZip } from "#mcp-server/services/devices/recordings/zip.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";

let site: Site;
let product: Product;
let anna: TestClient;
let bert: TestClient;
beforeAll(async () => {
  site = await startSite();
  const devices = "devices: [{ name: web, model: web }, { name: box, model: simulated }]";
  product = await openProduct(devices, { PIN: "4711-secret" });
  anna = await product.connect({ principal: "anna", client: "a" });
  bert = await product.connect({ principal: "bert", client: "b" });
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});

const filesSchema = z.array(z.object({ kind: z.string(), uri: z.string(), bytes: z.int() }));
const start = (args: Record<string, unknown> = {}) =>
  bert.call("start_recording", { device_id: "web", ...args });

/** Bytes of a file, as a host reads them. */
async function read(uri: string): Promise<Buffer> {
  const [content] = (await anna.client.readResource({ uri })).contents;
  return Buffer.from(content && "blob" in content ? content.blob : "", "base64");
}

test("a device that someone drives is recorded by another client, and the files hold no secret", async () => {
  const lease = (await anna.call("take_control", { device_id: "web" })).structured.session_id;
  const started = await start();
  expect(started.structured).toEqual({
    recording_id: expect.any(String),
    records: ["video", "trace"],
    until: expect.any(String),
  });
  const driven = await anna.call("execute_device_action", {
    session_id: lease,
    actions: [
      { command: "navigate_to_url", params: { url: `${site.url}/form` } },
      { command: "input_text", params: { selector: "Name", text: "{{secret.PIN}}" } },
      { command: "click_element", params: { selector: "Agree" } },
    ],
  });
  expect(driven.structured).toMatchObject({ status: "passed" });
  const { recording_id } = started.structured;
  const stopped = await bert.call("stop_recording", { recording_id });
  expect(stopped.structured).toMatchObject({ recording_id, device_id: "lab/web", ended: "stopped" });
  expect(stopped.structured.frames).toBeGreaterThan(0);
  expect(stopped.structured).not.toHaveProperty("lost");
  const files = filesSchema.parse(stopped.structured.files);
  expect(files.map(({ kind }) => kind)).toEqual(["video", "trace"]);
  const links = stopped.raw.content.filter(({ type }) => type === "resource_link");
  expect(links).toMatchObject([{ mimeType: "video/webm" }, { mimeType: "application/zip" }]);
  const [video, trace] = await Promise.all(files.map(({ uri }) => read(uri)));
  expect(video?.subarray(0, 4).toString("hex")).toBe("1a45dfa3");
  const text = await traceText(trace ?? Buffer.alloc(0));
  expect(text).toMatch(/"method":"(mouseClick|click)"/);
  expect(text).toContain("[secret PIN]");
  expect(text).not.toContain("4711-secret");
  expect((await bert.call("stop_recording", { recording_id })).structured).toEqual(stopped.structured);
});

/** What is in all files of the archive, pictures left out. */
async function traceText(zip: Buffer): Promise<string> {
  const texts: string[] = [];
  await changeZip(zip, (name, content) => {
    if (!name.endsWith(".jpeg")) texts.push(content.toString("utf8"));
    return content;
  });
  return texts.join("\n");
}

test("a transcript is inconclusive, and says that there is no sound", async () => {
  const { recording_id } = (await start({ trace: false })).structured;
  const early = await bert.call("get_transcript", { recording_id });
  expect(early.structured).toMatchObject({
    status: "inconclusive",
    reason: expect.stringContaining("still goes on"),
  });
  await bert.call("stop_recording", { recording_id });
  const { structured } = await bert.call("get_transcript", { recording_id });
  expect(structured).toMatchObject({ recording_id, status: "inconclusive" });
  expect(structured.reason).toMatch(/no sound/);
  expect(structured).not.toHaveProperty("text");
});

test("a recording that no one stops ends by itself, and its event names the files", async () => {
  const { recording_id } = (await start({ max_ms: 1_000 })).structured;
  const told = async () => (await lastEvent())?.payload.recording_id;
  await expect.poll(told, { timeout: 20_000 }).toBe(recording_id);
  expect(await lastEvent()).toMatchObject({
    type: "recording.finished",
    device_id: "lab/web",
    source: "bert",
    payload: { ended: "max_time", files: [{ kind: "video" }, { kind: "trace" }] },
  });
  const { structured } = await bert.call("stop_recording", { recording_id });
  expect(structured).toMatchObject({ ended: "max_time" });
  // A timer may be due a part of a millisecond before its time.
  expect(structured.duration_ms).toBeGreaterThanOrEqual(990);
});

const lastEvent = async () => (await product.events.read({ after: 0, limit: 1_000 })).at(-1);

test("a second recording, a device without a recorder, nothing to record and an unknown id are refused", async () => {
  const { recording_id } = (await start()).structured;
  expect((await start()).error).toMatchObject({ code: "ALREADY_EXISTS", details: { recording_id } });
  expect((await anna.call("start_recording", { device_id: "box" })).error).toMatchObject({
    code: "CONTROLLER_UNAVAILABLE",
    message: expect.stringContaining("lab/box cannot be recorded"),
  });
  for (const name of ["stop_recording", "get_transcript"]) {
    expect((await anna.call(name, { recording_id: "nothing" })).error).toMatchObject({
      code: "RECORDING_NOT_FOUND",
      hint: expect.stringContaining(`${recording_id} of lab/web`),
    });
  }
  await anna.call("stop_recording", { recording_id });
  expect((await start({ video: false, trace: false })).error).toMatchObject({ code: "INVALID_INPUT" });
  expect((await start({ max_ms: 1 })).error).toMatchObject({ code: "INVALID_INPUT" });
});

test("the end of the server ends recordings and keeps their files", async () => {
  const { recording_id } = (await start()).structured;
  expect(product.services.recordings.running()).toBe(1);
  // Something to film.
  await anna.call("execute_device_action", {
    device_id: "web",
    actions: [{ command: "navigate_to_url", params: { url: `${site.url}/form` } }],
  });
  await product.services.recordings.close();
  expect(product.services.recordings.running()).toBe(0);
  const { structured } = await bert.call("stop_recording", { recording_id });
  expect(structured).toMatchObject({
    ended: "server_stopped",
    files: [{ kind: "video" }, { kind: "trace" }],
  });
});
