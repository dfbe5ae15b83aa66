import {
  type Controller,
  type ControllerFactory,
  type DeviceFinding,
  portable,
} from "@labwright/controllers";
import { simulatedFactory, simulatedInfraredFactory } from "@labwright/controllers/lab";
import { describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { controllerContract } from "../contract.ts";
import { failureOf } from "../web/webDevice.ts";

const never = new AbortController().signal;

/** The controllers of one box by driver, in a context of their own. */
function makeBox(settings: Record<string, unknown> = {}) {
  const context = controllerContext("lab/box");
  const make = (factory: ControllerFactory) => factory.create(factory.settings.parse(settings), context);
  const [remote] = make(simulatedFactory);
  const [infrared] = make(simulatedInfraredFactory);
  if (!remote || !infrared) throw new Error("A factory of the lab made too few controllers.");
  return { remote, infrared };
}

async function openBox(settings?: Record<string, unknown>) {
  const box = makeBox(settings);
  for (const controller of Object.values(box)) await controller.open(never);
  const run = (name: string, params: Record<string, unknown> = {}, controller: Controller = box.remote) => {
    const command = controller.commands.find((one) => one.name === name);
    if (!command) throw new Error(`no command ${name}`);
    return command.run(command.input.parse(params), never);
  };
  const read = async (name: string, params: Record<string, unknown> = {}) => {
    const check = box.remote.checks.find((one) => one.name === name);
    if (!check) throw new Error(`no check ${name}`);
    return check.read(check.input.parse(params), never);
  };
  const holds = async (name: string, params?: Record<string, unknown>) => (await read(name, params)).holds;
  const dump = async () => {
    const snapshot = await box.remote.elements?.dump({ interactiveOnly: false }, never);
    if (!snapshot) throw new Error("The box lists no elements.");
    return snapshot;
  };
  return { ...box, run, read, holds, dump };
}

for (const [name, settings] of [
  ["remote", {}],
  ["infrared", {}],
  ["remote", { withhold: ["open_app"] }],
] as const)
  controllerContract(`${name} of the simulated box ${JSON.stringify(settings)}`, async () => ({
    controller: makeBox(settings)[name],
    factory: name === "infrared" ? simulatedInfraredFactory : simulatedFactory,
    dispose: async () => {},
  }));

describe("the simulated box", () => {
  it("offers the whole portable set", async () => {
    const { remote } = await openBox();
    const offered = new Set([...remote.commands, ...remote.checks].map(({ name }) => name));
    expect(Object.keys(portable).filter((name) => !offered.has(name))).toEqual([]);
  });

  it("goes where keys, touches and apps lead, and says which app is in front", async () => {
    const { run, holds, dump } = await openBox();
    await run("open_app", { app: { url: "https://tv.example/", package: "simulated.settings" } });
    expect(await holds("app_shown", { app: { package: "simulated.settings" } })).toBe(true);
    expect((await dump()).location).toBe("settings");
    await run("close_app", { app: { package: "simulated.settings" } });
    expect(await holds("app_shown", { app: { package: "simulated.home" } })).toBe(true);
    expect((await run("close_app", { app: { package: "simulated.movies" } })).message).toMatch(
      /was not open/,
    );
    await run("press_key", { key: "DOWN", count: 2 });
    expect(await holds("element_focused", { selector: "Settings" })).toBe(true);
    await run("press_key", { key: "OK" });
    expect(await holds("text_visible", { text: "device settings" })).toBe(true);
    const failure = await failureOf(run("open_app", { app: { package: "simulated.movie" } }));
    expect(failure).toMatchObject({
      code: "INVALID_PARAMS",
      details: { nearest: expect.arrayContaining(["simulated.movies"]) },
    });
  });

  it("is driven by the infrared remote, too", async () => {
    const { run, infrared, dump } = await openBox();
    const { sentAt } = await run("press_key", { key: "OK" }, infrared);
    expect(sentAt).toBeLessThanOrEqual(performance.now());
    expect((await dump()).location).toBe("live");
    expect(infrared.commands.map(({ name }) => name)).toEqual(["press_key"]);
  });

  it("writes and types into fields, and into nothing else", async () => {
    const { run, holds, read } = await openBox();
    await run("click_element", { selector: "Settings" });
    await run("input_text", { selector: "label=Device name", text: "Kitchen" });
    await run("type_text", { text: " TV" });
    expect(await holds("element_value", { selector: "id=device-name", value: "kitchen tv" })).toBe(true);
    expect(
      await read("element_value", { selector: "id=device-name", value: "kitchen tv", match: "exact" }),
    ).toMatchObject({ holds: false, actual: 'it is "Kitchen TV"' });
    await run("click_element", { selector: "role=checkbox" });
    expect(await holds("element_checked", { selector: "Parental lock" })).toBe(true);
    await run("double_click", { selector: "Parental lock" });
    expect(await holds("element_checked", { selector: "Parental lock" })).toBe(true);
    const failure = await failureOf(run("input_text", { selector: "Parental lock", text: "x" }));
    expect(failure.code).toBe("ELEMENT_NOT_ACTIONABLE");
  });

  it("scrolls a list that is longer than the screen", async () => {
    const { run, holds, dump } = await openBox();
    await run("click_element", { selector: "Live TV" });
    await run("click_element", { selector: "Guide" });
    const far = { selector: "Programme 20" };
    expect(await holds("element_exists", far)).toBe(false);
    expect(await holds("element_visible", far)).toBe(false);
    expect(await holds("element_hidden", far)).toBe(true);
    await run("scroll_to_element", far);
    expect(await holds("element_exists", far)).toBe(true);
    expect(await holds("element_visible", far)).toBe(true);
    await run("scroll", { direction: "bottom" });
    expect((await dump()).elements.map(({ name }) => name)).toContain("Programme 30");
    expect((await run("scroll", { direction: "down" })).message).toMatch(/^nothing scrolled/);
    expect(await holds("element_count", { selector: "role=button", min: 31, max: 31 })).toBe(false);
    expect(await holds("element_count", { selector: "role=button", count: 4 })).toBe(true);
  });

  it("asks before it does what cannot be undone, and takes the answer before or after", async () => {
    const { run, holds } = await openBox();
    await run("click_element", { selector: "Live TV" });
    await run("click_element", { selector: "Guide" });
    await run("click_element", { selector: "Record all" });
    expect(await holds("text_visible", { text: "Record all programmes?", match: "exact" })).toBe(true);
    const failure = await failureOf(run("click_element", { selector: "Programme 1" }));
    expect(failure).toMatchObject({ code: "ELEMENT_NOT_ACTIONABLE" });
    expect(failure.message).toContain("handle_dialog");
    await run("handle_dialog", { accept: false });
    expect(await holds("app_shown", { app: { package: "simulated.live" } })).toBe(true);
    await run("handle_dialog", { accept: true });
    await run("click_element", { selector: "Record all" });
    expect(await holds("text_visible", { text: "Now playing" })).toBe(true);
  });

  it("names elements by refs that stay, and says when one is gone", async () => {
    const { run, dump } = await openBox();
    const before = await dump();
    const movies = before.elements.find(({ name }) => name === "Movies");
    await run("press_key", { key: "DOWN" });
    expect((await dump()).elements.find(({ name }) => name === "Movies")?.ref).toBe(movies?.ref);
    await run("click_element", { ref: movies?.ref });
    expect((await dump()).location).toBe("movies");
    expect((await failureOf(run("click_element", { ref: movies?.ref }))).code).toBe("STALE_REF");
    expect((await failureOf(run("click_element", { ref: "e999" }))).code).toBe("ELEMENT_NOT_FOUND");
    const css = await failureOf(run("click_element", { selector: "#movies" }));
    expect(css).toMatchObject({ code: "INVALID_SELECTOR" });
    expect(css.message).toContain("it has role, label, id, text");
  });

  it("waits for what comes, and says what the screen shows when it does not", async () => {
    const { run, infrared } = await openBox();
    const waiting = run("wait_for", { text: "Now playing" });
    await run("press_key", { key: "OK" }, infrared);
    expect((await waiting).message).toMatch(/held after/);
    const failure = await failureOf(run("wait_for", { selector: "Movies", timeout_ms: 60 }));
    expect(failure).toMatchObject({ code: "COMMAND_TIMEOUT" });
    expect(failure.message).toContain("Now playing: News");
  });

  it("reports faults to listeners with a picture, and those that last to later listeners", async () => {
    const { run, remote, holds } = await openBox();
    const found: DeviceFinding[] = [];
    const end = remote.findings?.onFinding((finding) => found.push(finding));
    await run("simulate_fault", { kind: "blackscreen" });
    expect(await holds("text_visible", { text: "Welcome" })).toBe(false);
    await expect.poll(() => found.length).toBe(1);
    const late: DeviceFinding[] = [];
    remote.findings?.onFinding((finding) => late.push(finding));
    await run("simulate_fault", { kind: "blackscreen", on: false });
    await expect.poll(() => [found.length, late.length]).toEqual([2, 2]);
    end?.();
    await run("simulate_fault", { kind: "freeze" });
    await expect.poll(() => late.length).toBe(3);
    expect(found.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      "blackscreen began",
      "blackscreen ended",
    ]);
    expect(found[0]?.frame?.bytes.byteLength).toBeLessThan(found[1]?.frame?.bytes.byteLength ?? 0);
    expect(late[0]?.at).toBe(found[0]?.at);
  });

  it("that is dark is not touched, and no check says what is there or absent", async () => {
    const { run, read } = await openBox();
    await run("press_key", { key: "POWER" });
    const failure = await failureOf(run("click_element", { selector: "Movies" }));
    expect(failure).toMatchObject({ code: "DEVICE_ERROR", message: expect.stringContaining("POWER") });
    for (const name of ["element_exists", "element_hidden"])
      expect(await read(name, { selector: "Movies" })).toMatchObject({
        holds: false,
        inconclusive: expect.stringContaining("off"),
      });
    await run("press_key", { key: "POWER" });
    await run("click_element", { selector: "Movies" });
  });

  it("writes a log, and gives the lines behind a number", async () => {
    const { run, remote } = await openBox();
    await run("click_element", { selector: "Movies" });
    const lines = (await remote.logs?.lines({ limit: 100 }, never)) ?? [];
    expect(lines.map(({ text }) => text)).toContain("opened movies");
    const last = lines.at(-1)?.seq ?? 0;
    await run("simulate_fault", { kind: "app_crash" });
    const newer = (await remote.logs?.lines({ after: last, limit: 100 }, never)) ?? [];
    expect(newer.map(({ text, level }) => `${level} ${text}`)).toContain("error app_crash began");
    expect(newer.every(({ seq }) => seq > last)).toBe(true);
  });

  it("says what has the focus and what else could have it", async () => {
    const { run, remote } = await openBox();
    await run("press_key", { key: "RIGHT" });
    const { focused, candidates } = (await remote.focus?.focus(never)) ?? { candidates: [] };
    expect(focused?.name).toBe("Movies");
    expect(candidates.map(({ name, rect }) => [name, rect?.y])).toEqual([
      ["Live TV", 140],
      ["Movies", 200],
      ["Settings", 260],
    ]);
  });

  it("fails, hangs, dies and withholds by its settings", async () => {
    const failing = makeBox({ fail_at_open: "no power" });
    expect((await failureOf(failing.remote.open(never))).message).toContain("no power");
    const hanging = makeBox({ hang_at_open: true });
    await expect(hanging.remote.open(AbortSignal.timeout(20))).rejects.toThrow();
    expect(hanging.remote.isAlive()).toBe(false);
    const { run, remote } = await openBox({ die_after: 1, withhold: ["close_app"] });
    expect(remote.withheld?.()).toMatchObject([{ name: "close_app" }]);
    await run("press_key", { key: "OK" });
    expect(remote.status?.()).toEqual({ state: "online" });
    expect((await failureOf(run("press_key", { key: "OK" }))).code).toBe("DEVICE_LOST");
    expect([remote.isAlive(), remote.status?.().state]).toEqual([false, "offline"]);
  });
});
