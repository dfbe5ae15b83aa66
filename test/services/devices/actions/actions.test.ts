import { beforeEach, expect, test } from "vitest";
import type { Action, ActionBatch } from "#mcp-server/domain/index.ts";
import type { OpenDevice } from "#mcp-server/services/index.ts";
import { openBox } from "../../../fixtures/simulated.ts";
import { executorsOf } from "../parts.ts";

const { actions } = executorsOf({ PIN: "9876" });
let box: OpenDevice;
const signal = new AbortController().signal;
const act = (command: string, params: Action["params"] = {}, more: Partial<Action> = {}): Action => ({
  command,
  params,
  ...more,
});
const batch = (given: Partial<ActionBatch>): ActionBatch => ({
  actions: [],
  retry_actions: [],
  failure_actions: [],
  ...given,
});
const location = async () =>
  (await box.controllers[0]?.elements?.dump({ interactiveOnly: true }, signal))?.location;

beforeEach(async () => {
  box = await openBox();
});

test("actions run in order, an iterator repeats one, and each result says what was done", async () => {
  const list = [act("press_key", { key: "DOWN" }, { iterator: 2 }), act("press_key", { key: "OK" })];
  const report = await actions.run(box, batch({ actions: list }), { signal });
  expect(report).toMatchObject({
    ok: true,
    results: [
      { runs: 2, ok: true },
      { runs: 1, message: "pressed OK" },
    ],
  });
  expect(await location()).toBe("settings");
});

test("the first failure ends a batch unless the action says to go on", async () => {
  const wrong = act("click_element", { selector: "Nowhere" });
  const then = act("click_element", { selector: "Movies" });
  const stopped = await actions.run(box, batch({ actions: [wrong, then] }), { signal });
  expect(stopped).toMatchObject({
    ok: false,
    results: [{ ok: false, error: { code: "ELEMENT_NOT_FOUND" } }],
  });
  expect(await location()).toBe("home");
  const went = await actions.run(box, batch({ actions: [{ ...wrong, continue_on_fail: true }, then] }), {
    signal,
  });
  expect(went.ok).toBe(false);
  expect(await location()).toBe("movies");
});

test("retry actions save a batch; failure actions run when nothing did, with or without retries", async () => {
  const wrong = act("click_element", { selector: "Nowhere" });
  const good = act("click_element", { selector: "Movies" });
  const home = act("press_key", { key: "HOME" });
  const saved = await actions.run(
    box,
    batch({ actions: [wrong], retry_actions: [good], failure_actions: [home] }),
    { signal },
  );
  expect(saved).toMatchObject({ ok: true, results: [{ phase: "action" }, { phase: "retry" }] });
  const lost = await actions.run(
    box,
    batch({ actions: [wrong], retry_actions: [wrong], failure_actions: [home] }),
    { signal },
  );
  expect(lost.ok).toBe(false);
  expect(lost.results.map(({ phase }) => phase)).toEqual(["action", "retry", "failure"]);
  const without = await actions.run(box, batch({ actions: [wrong], failure_actions: [home] }), { signal });
  expect(without.results.map(({ phase }) => phase)).toEqual(["action", "failure"]);
});

test("an unknown command or parameter anywhere is named before anything runs", async () => {
  const go = act("press_key", { key: "OK" });
  const unknown = actions.run(box, batch({ actions: [go, act("pres_key", { key: "OK" })] }), { signal });
  await expect(unknown).rejects.toMatchObject({
    code: "ACTION_NOT_FOUND",
    hint: expect.stringContaining("press_key"),
  });
  const extra = batch({ actions: [go], failure_actions: [act("press_key", { kee: "OK", key: "NO" })] });
  await expect(actions.run(box, extra, { signal })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringMatching(/unknown key "kee"; did you mean "key"\?/),
  });
  expect(await location()).toBe("home");
});

test("action_type limits who is asked, and a check can be used as an action", async () => {
  const asWeb = actions.run(
    box,
    batch({ actions: [act("press_key", { key: "OK" }, { action_type: "web" })] }),
    { signal },
  );
  await expect(asWeb).rejects.toMatchObject({ code: "ACTION_NOT_FOUND" });
  const check = act("text_visible", { text: "Welcome home" }, { action_type: "verification" });
  expect(await actions.run(box, batch({ actions: [check] }), { signal })).toMatchObject({ ok: true });
});

test("a secret is filled in only where it is typed: an address that names one is refused before anything runs", async () => {
  const elsewhere = [
    act("input_text", { selector: "{{secret.PIN}}", text: "x" }),
    act("press_key", { key: "{{secret.PIN}}" }),
  ];
  for (const action of elsewhere)
    await expect(
      actions.run(box, batch({ actions: [act("press_key", { key: "DOWN" }), action] }), { signal }),
    ).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("may only stand in the text"),
    });
  expect(await location()).toBe("home");
});

test("variables and secrets are filled in, and a secret never comes back", async () => {
  await actions.run(box, batch({ actions: [act("click_element", { selector: "{{screen}}" })] }), {
    variables: { screen: "Settings" },
    signal,
  });
  const type = act("input_text", { selector: "Device name", text: "box {{secret.PIN}}" });
  expect(await actions.run(box, batch({ actions: [type] }), { variables: {}, signal })).toMatchObject({
    ok: true,
  });
  const dump = await box.controllers[0]?.elements?.dump({ interactiveOnly: true }, signal);
  expect(dump?.elements.find(({ name }) => name === "Device name")?.value).toBe("box 9876");
  const missing = batch({ actions: [act("click_element", { selector: "box 9876" })] });
  const failed = await actions.run(box, missing, { variables: {}, signal });
  expect(JSON.stringify(failed)).not.toContain("9876");
  const unknown = batch({ actions: [act("input_text", { selector: "x", text: "{{secret.PINN}}" })] });
  await expect(actions.run(box, unknown, { variables: {}, signal })).rejects.toMatchObject({
    code: "SECRET_NOT_FOUND",
  });
});

test("cancelling stops the device in the middle of a batch", async () => {
  const slow = await openBox({ latencyMs: 20 });
  const stop = new AbortController();
  const many = batch({ actions: [act("press_key", { key: "DOWN" }, { iterator: 100 })] });
  const run = actions.run(slow, many, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(run).rejects.toThrow("enough");
  const dump = await slow.controllers[0]?.elements?.dump({ interactiveOnly: true }, signal);
  expect(dump?.elements[2]?.states).not.toContain("focused");
});

test("commands are described in a line each, and one with its schema", () => {
  const { commands } = actions.describe(box, undefined);
  expect(commands.split("\n")).toContain(
    "press_key key count? - Presses a key, once or count times, where the focus is.",
  );
  expect(actions.describe(box, "input_text").schema).toMatchObject({ required: ["text"] });
  expect(() => actions.describe(box, "inputtext")).toThrow(/no command "inputtext"/);
});

test.each([
  "verification",
  "verification_text",
])("an action of type %s runs a check, and no command", async (type) => {
  const check = act("text_visible", { text: "Movies" }, { action_type: type });
  expect(await actions.run(box, batch({ actions: [check] }), { signal })).toMatchObject({ ok: true });
  const press = act("press_key", { key: "OK" }, { action_type: type });
  await expect(actions.run(box, batch({ actions: [press] }), { signal })).rejects.toMatchObject({
    code: "ACTION_NOT_FOUND",
  });
  expect(await location()).toBe("home");
});
