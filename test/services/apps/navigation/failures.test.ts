import { beforeAll, describe, expect, test } from "vitest";
import type { ActionExecutor } from "#mcp-server/services/index.ts";
import type { Database } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { act, click, fakeRun, labOf, labWith, place, press, shows, way } from "./lab.ts";

let db: Database;

const reached = { reached: true, verified: true };
const unknown = { verified: false, source: "unknown" };

describeEachDatabase("navigation that fails", (open) => {
  beforeAll(async () => {
    ({ db } = await open());
  });

  describe("a step that fails", () => {
    const broken = way("Home", "Movies", [click("No such button")]);
    const retried = (action: object, retry: object) => ({
      ...broken,
      action_sets: [{ actions: [action], retry_actions: [retry] }],
    });

    test("is planned around from where the device really is, without the edge that failed", async () => {
      const direct = way("Live", "Settings", [click("Gone")], undefined, { priority: "p1" });
      const { go } = await labWith(db, { direct });
      await go("Live");
      const { report, steps } = await go("Settings");
      expect(report).toMatchObject({ ...reached, replans: 1 });
      expect(report.legs).toMatchObject([
        { from: "Live", to: "Settings", ok: false, error: { code: "ELEMENT_NOT_FOUND" } },
        { from: "Live", to: "Home", ok: true },
        { from: "Home", to: "Settings", ok: true },
      ]);
      expect(steps[0]).toMatchObject({ status: "failed", error: { code: "ELEMENT_NOT_FOUND" } });
    });

    test("runs the retry actions once when the target does not show, and no more", async () => {
      const { go } = await labWith(db, { "Home → Movies": retried(press("UP"), click("Movies")) });
      const { report, steps } = await go("Movies");
      expect(report).toMatchObject({ ...reached, replans: 0 });
      expect(steps.at(-1)?.output).toMatchObject({ results: [{ phase: "action" }, { phase: "retry" }] });
    });

    test("does not run retry actions a second time that ran for the actions already", async () => {
      const { go } = await labWith(db, { "Home → Movies": retried(click("Gone"), press("UP")) });
      const { report, steps } = await go("Movies");
      // Nothing leads there without this edge, so its failure is the reason, and not the tree.
      const error = { code: "VERIFICATION_FAILED", command: "text_visible", expected: expect.any(String) };
      expect(report).toMatchObject({ reached: false, status: "failed", error });
      expect(steps[0]?.output).toMatchObject({ results: [{ phase: "action" }, { phase: "retry" }] });
    });

    test("finds the device at a sibling of the target and goes on from there", async () => {
      const { go } = await labWith(db, {
        "Home → Movies": way("Home", "Movies", [click("Settings")]),
        back: way("Settings", "Movies", [press("BACK"), click("Movies")]),
      });
      const { report, trail } = await go("Movies");
      expect(report).toMatchObject({ reached: true, replans: 1 });
      expect(trail).toEqual(["Home Movies", "Settings Movies"]);
    });

    test("leaves the position unknown when the navigation fails, and says why", async () => {
      const { go, position } = await labWith(db, { "Home → Movies": broken });
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: false, verified: false, status: "failed" });
      expect(report.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", command: "click_element" });
      expect(await position()).toEqual(unknown);
    });

    test("is tried at most three times in all", async () => {
      const { go } = await labWith(db, { "Home → Movies": broken, b: broken, c: broken, d: broken });
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: false, replans: 2, error: { code: "ELEMENT_NOT_FOUND" } });
      expect(report.legs.filter(({ to }) => to === "Movies")).toHaveLength(3);
    });

    test("whose target is not verified says what was expected and found", async () => {
      const nowhere = way("Home", "Movies", [press("UP")]);
      const { go } = await labWith(db, { "Home → Movies": nowhere, b: nowhere, c: nowhere });
      const { report } = await go("Movies");
      expect(report.error?.code).toBe("VERIFICATION_FAILED");
      expect(report.error?.message).toMatch(/"Movies" was not verified: expected .*All movies.*; found/);
      expect(report.verdicts).toMatchObject([{ pass: false }]);
    });
  });

  describe("conditional edges", () => {
    const either = (target: string) => ({
      ...way("Home", target, []),
      ...{ conditional: true, action_sets: [{ id: "open", actions: [click("Settings")] }] },
    });
    const both = { "Home → Movies": either("Movies"), "Home → Settings": either("Settings") };

    test("run once, and the target that verifies decides", async () => {
      const { go, position, userinterfaces, app } = await labWith(db, both);
      const { report } = await go("Settings");
      expect(report).toMatchObject({ ...reached, at: "Settings", replans: 0 });
      expect(await position()).toMatchObject({ node: "Settings" });
      await go("Home");
      expect((await go("Movies")).report).toMatchObject({ reached: false });
      const reliability = async (edge: string) => (await userinterfaces.getEdge(app, edge)).reliability[0];
      expect(await reliability("Home → Settings")).toMatchObject({ success_rate: 1 });
      expect(await reliability("Home → Movies")).toMatchObject({ success_rate: 0 });
    });

    test("that led elsewhere are gone on from there", async () => {
      const onward = way("Settings", "Movies", [press("BACK"), click("Movies")]);
      const { go } = await labWith(db, { ...both, onward });
      await go("Home");
      const { report, trail } = await go("Movies");
      expect(report).toMatchObject({ ...reached, replans: 1 });
      expect(trail).toEqual(["Home Settings", "Settings Movies"]);
    });
  });

  describe("a run that ends on the way", () => {
    /** Acts between the first action of a step and what follows. */
    const afterFirst =
      (hook: () => void) =>
      (actions: ActionExecutor): ActionExecutor => {
        let count = 0;
        return {
          ...actions,
          async run(...args) {
            const report = await actions.run(...args);
            if (++count === 1) hook();
            return report;
          },
        };
      };

    test("by cancellation stops inside of a step, throws the reason and leaves the position unknown", async () => {
      const cancel = new AbortController();
      const reason = new Error("cancelled by the test");
      const live = {
        ...way("Home", "Live", []),
        action_sets: [{ actions: [click("Live TV")], kpi: [shows("Guide")] }],
      };
      const wrapActions = afterFirst(() => cancel.abort(reason));
      const { go, device, position } = await labWith(db, { "Home → Live": live }, { wrapActions });
      const fake = fakeRun(device, cancel.signal);
      await expect(go("Live", { fake })).rejects.toBe(reason);
      expect(fake.steps).toMatchObject([{ label: "Home → Live", status: "cancelled" }]);
      expect(await position()).toEqual(unknown);
    });

    test("in the middle of an action says whether its input was sent", async () => {
      const cancel = new AbortController();
      const slow = way("Home", "Live", [{ ...click("Live TV"), wait_ms: 60_000 }]);
      const { go, device } = await labWith(db, { "Home → Live": slow });
      const fake = fakeRun(device, cancel.signal);
      const going = go("Live", { fake });
      const { signal } = new AbortController();
      const screen = () => device.controllers[0]?.elements?.dump({ interactiveOnly: true }, signal);
      await expect.poll(async () => (await screen())?.location).toBe("live");
      cancel.abort(new Error("cancelled by the test"));
      await expect(going).rejects.toThrow("cancelled by the test");
      expect(fake.steps).toMatchObject([{ status: "cancelled", error: { dispatched: "yes" } }]);
    });

    test("before it starts moves nothing", async () => {
      const { go, device } = await labWith(db);
      const fake = fakeRun(device, AbortSignal.abort(new Error("too late")));
      await expect(go("Live", { fake })).rejects.toThrow("too late");
      expect(fake.steps).toEqual([]);
    });

    test("by its own time limit reports a timeout", async () => {
      const { go, position } = await labWith(db, {}, { latencyMs: 40 });
      const { report, steps } = await go("Movies", { timeout_ms: 60 });
      const error = { code: "EXECUTION_TIMEOUT" };
      expect(report).toMatchObject({ reached: false, status: "timeout", error });
      expect(steps.every(({ status }) => status === "timeout")).toBe(true);
      expect(await position()).toEqual(unknown);
    });
  });

  describe("what cannot be walked", () => {
    test("without an entry node and a known place is NO_ENTRY_NODE", async () => {
      const { go } = await labOf(db, { nodes: [place("Somewhere", "not on any screen")] });
      const { report } = await go("Somewhere");
      expect(report).toMatchObject({ reached: false, status: "error", error: { code: "NO_ENTRY_NODE" } });
    });

    test("without a way is NO_PATH, and nothing is driven", async () => {
      const { report, steps } = await (await labWith(db)).go("Blind");
      expect(report.error).toMatchObject({ code: "NO_PATH", message: expect.stringContaining('"Blind"') });
      expect(steps).toEqual([]);
    });

    test.each([
      ["that is a place", place("Start", "Welcome home", { type: "entry" }), [press("OK")]],
      ["that only opens the app", { label: "Start", type: "entry" }, []],
    ])("a place that is left by no way, to which the app opens again, is NO_PATH: with an entry %s", async (_, entry, actions) => {
      const { lab, go } = await labOf(
        db,
        {
          nodes: [entry, place("Home", "Welcome home"), place("Movies", "All movies")],
          edges: [way("Start", "Home", actions)],
        },
        { package: "simulated.movies" },
      );
      await act(lab, press("HOME"), click("Movies"));
      expect((await go("Home")).report).toMatchObject({
        status: "error",
        error: { code: "NO_PATH", message: expect.stringMatching(/from "Movies" to "Home".*opened again/) },
      });
    });

    test("an app that jumps back to such a place on a later step has failed", async () => {
      const { lab, go } = await labOf(
        db,
        {
          nodes: [
            { label: "Start", type: "entry" },
            place("Live", "Now playing: News"),
            place("Guide", "Tonight"),
            place("Settings", "Device settings"),
          ],
          edges: [way("Start", "Live", []), way("Live", "Settings", [click("Guide")])],
        },
        { package: "simulated.live" },
      );
      await act(lab, press("HOME"), click("Live TV"), click("Guide"));
      expect((await go("Settings")).report).toMatchObject({
        status: "failed",
        legs: [{ to: "Live", verified: true }, { ok: false }],
      });
    });

    test("an unknown node is named with the nearest before anything moves", async () => {
      const { go } = await labWith(db);
      await expect(go("Movis")).rejects.toMatchObject({
        code: "NODE_NOT_FOUND",
        details: { nearest: ["Movies"] },
      });
    });
  });
});
