import { Worker } from "node:worker_threads";
import {
  type ControllerContext,
  type Frame,
  nowhere,
  textFactory,
  type VideoFrame,
} from "@labwright/controllers";
import { describe, expect, it, vi } from "vitest";
import { Seen } from "#controllers/vision/seen.ts";
import { readText } from "#controllers/vision/text.ts";
import { controllerContract } from "../controllers/contract.ts";
import { controllerContext } from "../fixtures/controllerContext.ts";
import { type Written, writtenFrame, writtenScreen } from "../fixtures/writtenPictures.ts";

const never = new AbortController().signal;
const menu: Written = {
  ...{ width: 1_280, height: 720, background: "#123" },
  boxes: [{ x: 40, y: 170, width: 500, height: 50, fill: "#0af" }],
  texts: [
    { text: "Movies", x: 60, y: 136, size: 28 },
    { text: "TV shows", x: 60, y: 206, size: 28 },
    { text: "Réglages système", x: 60, y: 276, size: 28 },
    { text: "Room 204", x: 60, y: 346, size: 28 },
  ],
};
const withLast = (text: string, fill = "#eee"): Written => ({
  ...menu,
  texts: [...menu.texts.slice(0, 3), { text, x: 60, y: 346, size: 28, fill }],
});

/** A device whose screenshots are these, in turn; the last one stays. */
function deviceOf(frames: readonly Frame[], addons = controllerContext("tv").addons): ControllerContext {
  const rest = [...frames];
  const base = controllerContext("tv");
  const capture = async () => (rest.length > 1 ? rest.shift() : rest[0]) as Frame;
  return { ...base, addons, device: { ...base.device, screen: () => ({ capture }) } };
}

const driver = (context: ControllerContext, languages = ["eng", "fra"]) => {
  const [controller] = textFactory.create(textFactory.settings.parse({ languages }), context);
  if (!controller) throw new Error("no controller");
  return {
    ...controller,
    async read(name: string, params: object, frame?: VideoFrame) {
      const check = controller.checks.find((one) => one.name === name);
      if (!check) throw new Error(`no check ${name}`);
      return check.read(check.input.parse(params), never, frame && { frame });
    },
  };
};

const withoutAddon = { ...nowhere.addons, state: () => "missing" as const };

describe.each([
  ["the add-on", controllerContext("tv").addons],
  ["the program tesseract", withoutAddon],
])("texts read by %s", (_, addons) => {
  it("are found on a plain and on a highlighted background, with their places", async () => {
    const seen = new Seen(await writtenFrame(menu));
    const context = deviceOf([], addons);
    const lines = await readText(context, seen, { languages: ["eng"] }, never);
    expect(lines.map(({ text }) => text)).toEqual([
      "Movies",
      "TV shows",
      expect.stringContaining("Réglages"),
      "Room 204",
    ]);
    const { x, y, width, height } = lines[1]?.rect ?? { x: 0, y: 0, width: 0, height: 0 };
    expect(
      [x, y, x + width, y + height].every((side, at) => Math.abs(side - ([60, 185, 192, 207][at] ?? 0)) < 5),
    ).toBe(true);
  });
});

it("reads a text of an area, also where its language has accents", async () => {
  const { read } = driver(deviceOf([]), ["fra"]);
  const area = { x: 40, y: 240, width: 400, height: 55 };
  const frame = await writtenFrame(menu);
  expect(await read("text_equals", { text: "Réglages système", area }, frame)).toMatchObject({ holds: true });
  const other = await read("text_equals", { text: "Réglages", area }, frame);
  expect(other).toMatchObject({ holds: false, actual: expect.stringContaining("Réglages système") });
  await expect(read("text_equals", { text: "x", area: { ...area, x: 5_000 } }, frame)).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringContaining("1280 x 720"),
  });
  await expect(read("text_equals", { text: "x", area: { ...area, width: 0 } }, frame)).rejects.toThrow(
    /"width"/,
  );
});

it("reads a picture once for all checks of a look, and anew when one digit changes", async () => {
  const screens = [menu, menu, withLast("Room 209")];
  const device = deviceOf(await Promise.all(screens.map(writtenScreen)));
  const read = async () => {
    const frame = await device.device.screen().capture({}, never);
    return readText(device, new Seen(frame), { languages: ["eng"] }, never);
  };
  const [first, second, third] = [await read(), await read(), await read()];
  expect(second).toBe(first);
  expect(third.map(({ text }) => text)).toContain("Room 209");
});

it("reads an area anew when one letter changes, also of a faint text", async () => {
  const { read } = driver(deviceOf([]), ["eng"]);
  const area = { x: 40, y: 316, width: 300, height: 44 };
  const says = async (text: string) =>
    (await read("text_equals", { text: "Mail", area }, await writtenFrame(withLast(text, "#345")))).actual;
  expect(await says("Mail")).toContain('"Mail"');
  expect(await says("Mall")).toContain('"Mall"');
});

it("tells what a missing language needs, and judges nothing without a reader or a picture", async () => {
  const { read } = driver(deviceOf([]));
  const frame = await writtenFrame(menu);
  await expect(read("text_visible", { text: "Movies", language: "xxx" }, frame)).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringMatching(/deu, eng.*tesseract-ocr-xxx/),
  });
  const offline = deviceOf([]);
  const silent = { latest: async () => ({ ...(await writtenScreen(menu)), number: 1, arrivedAt: 0 }) };
  const stale = driver({ ...offline, device: { ...offline.device, frames: () => silent as never } });
  const check = stale.checks.find(({ name }) => name === "text_visible");
  const reading = await check?.read(check.input.parse({ text: "Movies" }), never, { since: 1 });
  expect(reading).toMatchObject({ holds: false, inconclusive: expect.stringContaining("no frame") });
});

it("reads again after the thread of a language was killed at its work", async () => {
  const { postMessage } = Worker.prototype;
  const posting = vi.spyOn(Worker.prototype, "postMessage");
  posting.mockImplementation(function (this: Worker, message) {
    postMessage.call(this, message);
    if (message.action !== "recognize") return;
    posting.mockRestore();
    void this.terminate();
  });
  const { read } = driver(deviceOf([]), ["spa"]);
  const area = { x: 40, y: 106, width: 300, height: 44 };
  const frame = await writtenFrame(menu);
  await expect(read("text_visible", { text: "Movies", area }, frame)).rejects.toMatchObject({
    code: "DEVICE_ERROR",
    message: expect.stringContaining("Try again"),
  });
  expect(await read("text_visible", { text: "Movies", area }, frame)).toMatchObject({ holds: true });
});

it("ends the thread of a language after a minute without a picture", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const terminate = vi.spyOn(Worker.prototype, "terminate");
  try {
    const { read } = driver(deviceOf([]), ["deu"]);
    const area = { x: 40, y: 106, width: 300, height: 44 };
    await read("text_visible", { text: "Movies", area }, await writtenFrame(menu));
    vi.advanceTimersByTime(59_000);
    expect(terminate).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2_000);
    await expect.poll(() => terminate.mock.calls.length).toBe(1);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

it("gives a menu as entries, with the highlighted one", async () => {
  const { commands } = driver(deviceOf([await writtenScreen(menu)]));
  const [command] = commands;
  const result = await command?.run(command.input.parse({}), never);
  expect(result?.message).toBe('4 lines; highlighted: "TV shows"');
  expect(result?.data).toMatchObject({
    items: [{ highlighted: false }, { text: "TV shows", highlighted: true }, {}, {}],
  });
});

controllerContract("text", async () => {
  const [controller] = textFactory.create(textFactory.settings.parse({}), deviceOf([]));
  if (!controller) throw new Error("no controller");
  return { controller, factory: textFactory, dispose: async () => undefined };
});
