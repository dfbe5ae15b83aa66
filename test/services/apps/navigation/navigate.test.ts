import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { ActionExecutor } from "../../../../mcp-server/src/services/ports.ts";
import type { Database } from "../../../../mcp-server/src/storage/index.ts";
import { navigationRows } from "../../../../mcp-server/src/storage/rows/navigationRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { boxYaml, click, drive, fakeRun, type Lab, type LabOptions, openLab, press, shows } from "./lab.ts";

let db: Database;

/** A lab with the box's app in it under a name of its own. */
async function labWith(edges: Readonly<Record<string, object | undefined>> = {}, options: LabOptions = {}) {
  const lab = await openLab(db, options);
  const app = `box ${randomUUID()}`;
  await lab.files.importYaml(boxYaml(app, edges), false);
  const go = (target: string, rest: { timeout_ms?: number } = {}) => {
    const fake = fakeRun(lab.device);
    const report = lab.navigation.navigate(fake.run, { userinterface: app, target, ...rest });
    return report.then((done) => ({ ...fake, report: done }));
  };
  const position = (identify = false) =>
    lab.navigation.position(lab.device, { userinterface_name: app, identify }, new AbortController().signal);
  return { ...lab, lab, app, go, position };
}

const driveAway = async (lab: Lab, key: string) => {
  await drive(lab, key);
  lab.devices.drivenOutsideNavigation(lab.device.id);
};

describeEachDatabase("navigation", (open) => {
  beforeAll(async () => {
    ({ db } = await open());
  });

  test("goes from a place that it recognises, and says what it walked and verified", async () => {
    const { go, position } = await labWith();
    const { report, steps, counted } = await go("Movies");
    expect(report).toMatchObject({
      reached: true,
      verified: true,
      status: "passed",
      at: "Movies",
      replans: 0,
    });
    expect(report.legs.map(({ from, to, verified }) => [from, to, verified])).toEqual([
      ["Home", "Movies", true],
    ]);
    expect(report.confidence).toBe(0.5);
    expect(steps.map(({ label, status, kind }) => [label, status, kind])).toEqual([
      ["Home → Movies", "passed", "navigation"],
    ]);
    expect(counted.checks).toBe(1);
    expect(await position()).toMatchObject({ node: "Movies", verified: true, source: "tracked" });
  });

  test("starts at the entry, whose edges run from anywhere, when it recognises nothing", async () => {
    const { go, lab, userinterfaces, app } = await labWith();
    await userinterfaces.updateNode(app, "Live", { verifications: [shows("not on any screen")] });
    for (const key of ["HOME", "OK"]) await drive(lab, key);
    const { report } = await go("Movies");
    expect(report).toMatchObject({ reached: true, verified: true, replans: 0 });
    expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual(["Start Home", "Home Movies"]);
  });

  test("opens the app as its model says when the entry is a place that does not show", async () => {
    const { lab } = await labWith();
    const name = `tv ${randomUUID()}`;
    const nodes = [
      { label: "Home", type: "entry", verifications: [shows("Welcome home")] },
      { label: "Movies", verifications: [shows("All movies")] },
    ];
    const edges = [{ source: "Home", target: "Movies", action_sets: [{ actions: [click("Movies")] }] }];
    const app = { url: "https://app.test/", package: "simulated.home" };
    const yaml = { format_version: 1, name, models: ["simulated"], app, tree: { nodes, edges } };
    await lab.files.importYaml(JSON.stringify(yaml), false);
    for (const key of ["HOME", "OK"]) await drive(lab, key);
    const { run, steps } = fakeRun(lab.device);
    const report = await lab.navigation.navigate(run, { userinterface: name, target: "Movies" });
    expect(report).toMatchObject({ reached: true, verified: true });
    expect(steps[0]?.output).toMatchObject({ results: [{ command: "open_app", message: "opened Home" }] });
    expect(steps.map(({ label }) => label)).toEqual([`open ${name}`, "Home → Movies"]);
  });

  describe("an app that is not in front", () => {
    /** Opens at Movies; its Settings are those of another app. */
    async function labOfMovies(app: object = { package: "simulated.movies" }) {
      const lab = await openLab(db);
      const name = `movies ${randomUUID()}`;
      const nodes = [
        { label: "Movies", type: "entry", verifications: [shows("All movies")] },
        { label: "Settings", verifications: [shows("Device settings")] },
        { label: "Tiles", verifications: [shows("Welcome home")] },
      ];
      const way = (target: string, ...actions: object[]) => ({
        ...{ source: "Movies", target },
        action_sets: [{ actions }],
      });
      const edges = [way("Settings", press("HOME"), click("Settings")), way("Tiles", press("HOME"))];
      const yaml = { format_version: 1, name, models: ["simulated"], app, tree: { nodes, edges } };
      await lab.files.importYaml(JSON.stringify(yaml), false);
      const go = async (target: string, { run, steps } = fakeRun(lab.device)) => {
        const report = await lab.navigation.navigate(run, { userinterface: name, target });
        return { report, labels: steps.map(({ label }) => label) };
      };
      return { lab, name, go };
    }

    test("is opened at the start, whatever the other app shows", async () => {
      const { lab, name, go } = await labOfMovies();
      await drive(lab, "HOME");
      const { report, labels } = await go("Tiles");
      expect(labels).toEqual([`open ${name}`, "Movies → Tiles"]);
      expect(report).toMatchObject({ reached: true, verified: true });
      lab.devices.drivenOutsideNavigation(lab.device.id);
      await lab.userinterfaces.updateNode(name, "Movies", { verifications: [shows("Welcome home")] });
      const entry = await go("Movies");
      expect(entry.labels).toEqual([`open ${name}`]);
      expect(entry.report).toMatchObject({ reached: false, error: { code: "VERIFICATION_FAILED" } });
    });

    test("is left alone where nothing tells which app is in front", async () => {
      const { lab, go } = await labOfMovies({ package: "no.such.app" });
      await drive(lab, "HOME");
      expect(await go("Tiles")).toMatchObject({ report: { reached: true, verified: true }, labels: [] });
    });

    test("is left alone on the way of a run that was led there, and by a navigation right behind another", async () => {
      const { lab, name, go } = await labOfMovies();
      const one = fakeRun(lab.device);
      expect((await go("Settings", one)).labels).toEqual([`open ${name}`, "Movies → Settings"]);
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect((await go("Settings", one)).labels).toHaveLength(2);
      expect((await go("Settings")).labels).toEqual([]);
      const test = fakeRun(lab.device);
      test.run.kind = "testcase";
      expect((await go("Settings", test)).labels).toEqual([`open ${name}`, "Movies → Settings"]);
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect((await go("Settings")).labels).toEqual([`open ${name}`, "Movies → Settings"]);
    });

    test("is opened though somebody asked where the device is", async () => {
      const { lab, name, go } = await labOfMovies();
      await drive(lab, "HOME");
      const never = new AbortController().signal;
      await lab.navigation.position(lab.device, { userinterface_name: name, identify: true }, never);
      expect((await go("Tiles")).labels).toEqual([`open ${name}`, "Movies → Tiles"]);
    });
  });

  test("enters a subtree through its entry and leaves it again", async () => {
    const lab = await openLab(db);
    const name = `nested ${randomUUID()}`;
    const inner = {
      nodes: [
        { label: "Settings list", type: "entry", verifications: [shows("Parental lock")] },
        { label: "Locked", verifications: [shows("Device name")] },
      ],
      edges: [
        {
          source: "Settings list",
          target: "Locked",
          action_sets: [
            { actions: [click("Parental lock")] },
            { direction: "reverse", actions: [press("UP")] },
          ],
        },
      ],
    };
    const nodes = [
      { label: "Start", type: "entry" },
      { label: "Home", verifications: [shows("Welcome home")] },
      { label: "Settings", verifications: [shows("Device settings")], subtree: inner },
    ];
    const edges = [
      { source: "Start", target: "Home", action_sets: [{ actions: [press("HOME")] }] },
      {
        source: "Home",
        target: "Settings",
        action_sets: [{ actions: [click("Settings")] }, { direction: "reverse", actions: [press("BACK")] }],
      },
    ];
    const yaml = { format_version: 1, name, models: ["simulated"], tree: { nodes, edges } };
    await lab.files.importYaml(JSON.stringify(yaml), false);
    await drive(lab, "HOME");
    const walk = async (target: string) => {
      const { run } = fakeRun(lab.device);
      const report = await lab.navigation.navigate(run, { userinterface: name, target });
      expect(report).toMatchObject({ reached: true, verified: true });
      return report.legs.map(({ kind, to }) => `${kind} ${to}`);
    };
    expect(await walk("Locked")).toEqual(["edge Settings", "enter Settings list", "edge Locked"]);
    expect(await walk("Home")).toEqual(["edge Settings list", "exit Settings", "edge Home"]);
  });

  test("stores each edge's and node's run with outcome and duration, and learns from it", async () => {
    const { go, userinterfaces, app } = await labWith();
    await go("Live");
    const { edges, nodes } = await userinterfaces.load(app);
    const idOf = (label: string) => [...nodes.values()].find((node) => node.label === label)?.id ?? "";
    const edge = [...edges.values()].find(({ target }) => target === idOf("Live"));
    const rows = navigationRows(db);
    expect(await rows.summaryOf("edge", edge?.id ?? "", "simulated")).toMatchObject([
      { action_set_id: "forward", runs: 1, successes: 1 },
    ]);
    expect(await rows.summaryOf("node", idOf("Live"))).toMatchObject([{ runs: 1, successes: 1 }]);
    await go("Home");
    const { report } = await go("Live");
    expect(report.confidence).toBeCloseTo(2 / 3, 3);
    expect((await userinterfaces.getEdge(app, "Home → Live")).reliability).toMatchObject([
      { action_set: "forward", runs: 2, success_rate: 1 },
      { action_set: "reverse", runs: 1, success_rate: 1 },
    ]);
  });

  test("stays where it is when the target shows already, and has looked", async () => {
    const { go } = await labWith();
    await go("Movies");
    const { report, counted } = await go("Movies");
    expect(report).toMatchObject({ reached: true, verified: true, legs: [] });
    expect(counted.checks).toBe(1);
  });

  test("reaches a target without checks, and never calls it verified", async () => {
    const toBlind = { source: "Movies", target: "Blind", action_sets: [{ actions: [press("DOWN")] }] };
    const { go, position } = await labWith({ blind: toBlind });
    const { report } = await go("Blind");
    expect(report).toMatchObject({ reached: true, verified: false, at: "Blind" });
    expect(report.legs.at(-1)).toMatchObject({ to: "Blind", ok: true, verified: false });
    expect(await position()).toMatchObject({ node: "Blind", verified: false });
  });

  test("runs an action node's actions and stays where it was", async () => {
    const mute = { source: "Live", target: "Mute", action_sets: [{ actions: [press("UP")] }] };
    const { go, position } = await labWith({ mute });
    const { report } = await go("Mute");
    expect(report).toMatchObject({ reached: true, verified: false, at: "Live" });
    expect(await position(true)).toMatchObject({ node: "Live", verified: true });
  });

  describe("a position", () => {
    test("that is fresh is trusted without a look", async () => {
      const { go, lab } = await labWith();
      await go("Movies");
      // Nobody told navigation, so it believes to be at Movies and walks back from there.
      await drive(lab, "HOME");
      const { report } = await go("Home");
      expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual(["Movies Home"]);
    });

    test("that is stale is checked first, and the screen searched when it is wrong", async () => {
      const clock = fakeClock();
      const { go, lab, position } = await labWith({}, { clock });
      await go("Movies");
      await drive(lab, "HOME");
      await clock.advance(30_001);
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
      const { report } = await go("Settings");
      expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual(["Home Settings"]);
    });

    test("that is stale and still true is used", async () => {
      const clock = fakeClock();
      const { go } = await labWith({}, { clock });
      await go("Movies");
      await clock.advance(60_000);
      const { report } = await go("Home");
      expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual(["Movies Home"]);
    });

    test("becomes unverified when the device is driven outside navigation", async () => {
      const { go, lab, position } = await labWith();
      await go("Movies");
      await driveAway(lab, "HOME");
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
      const { report } = await go("Settings");
      expect(report).toMatchObject({ reached: true, replans: 0 });
      expect(report.legs.map(({ from }) => from)).toEqual(["Home"]);
    });

    test("without checks is unknown once the device was driven by somebody else", async () => {
      const toBlind = { source: "Movies", target: "Blind", action_sets: [{ actions: [press("DOWN")] }] };
      const { go, lab, position } = await labWith({ blind: toBlind });
      await go("Blind");
      await driveAway(lab, "UP");
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("is identified from the screen, or honestly unknown", async () => {
      const { lab, position, userinterfaces, app } = await labWith();
      await drive(lab, "HOME");
      expect(await position(true)).toMatchObject({ node: "Home", verified: true, source: "identified" });
      await userinterfaces.updateNode(app, "Home", { verifications: [shows("nothing of the kind")] });
      expect(await position(true)).toEqual({ verified: false, source: "unknown", looked_at: 4 });
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("of one app is doubted when navigation drives the device in another", async () => {
      const { lab, go, position } = await labWith();
      await go("Movies");
      const other = `other ${randomUUID()}`;
      await lab.files.importYaml(boxYaml(other), false);
      await lab.navigation.navigate(fakeRun(lab.device).run, { userinterface: other, target: "Live" });
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
    });
  });

  describe("a step that fails", () => {
    const broken = (source: string, target: string, rest: object = {}) => ({
      source,
      target,
      action_sets: [{ actions: [click("No such button")] }],
      ...rest,
    });
    const direct = {
      source: "Live",
      target: "Settings",
      priority: "p1",
      action_sets: [{ actions: [click("Gone")] }],
    };

    test("is planned around from where the device really is, without the edge that failed", async () => {
      const { go } = await labWith({ direct });
      await go("Live");
      const { report, steps } = await go("Settings");
      expect(report).toMatchObject({ reached: true, verified: true, replans: 1 });
      expect(report.legs.map(({ from, to, ok }) => [from, to, ok])).toEqual([
        ["Live", "Settings", false],
        ["Live", "Home", true],
        ["Home", "Settings", true],
      ]);
      expect(report.legs[0]?.error?.code).toBe("ELEMENT_NOT_FOUND");
      expect(steps[0]).toMatchObject({ status: "failed", error: { code: "ELEMENT_NOT_FOUND" } });
    });

    test("runs the retry actions once when the target does not show, and no more", async () => {
      const retried = {
        source: "Home",
        target: "Movies",
        action_sets: [{ actions: [press("UP")], retry_actions: [click("Movies")] }],
      };
      const { go } = await labWith({ "Home → Movies": retried });
      const { report, steps } = await go("Movies");
      expect(report).toMatchObject({ reached: true, verified: true, replans: 0 });
      const results = [steps.at(-1)?.output];
      expect(results).toMatchObject([{ results: [{ phase: "action" }, { phase: "retry" }] }]);
    });

    test("does not run retry actions a second time that ran for the actions already", async () => {
      const retried = {
        source: "Home",
        target: "Movies",
        action_sets: [{ actions: [click("Gone")], retry_actions: [press("UP")] }],
      };
      const { go } = await labWith({ "Home → Movies": retried });
      const { report, steps } = await go("Movies");
      expect(report).toMatchObject({
        reached: false,
        status: "failed",
        // Nothing leads there without this edge; the edge is why, and not the tree.
        error: { code: "VERIFICATION_FAILED", command: "text_visible", expected: expect.any(String) },
      });
      expect(steps[0]?.output).toMatchObject({ results: [{ phase: "action" }, { phase: "retry" }] });
    });

    test("finds the device at a sibling of the target and goes on from there", async () => {
      const wrong = { source: "Home", target: "Movies", action_sets: [{ actions: [click("Settings")] }] };
      const back = {
        source: "Settings",
        target: "Movies",
        action_sets: [{ actions: [press("BACK"), click("Movies")] }],
      };
      const { go } = await labWith({ "Home → Movies": wrong, back });
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: true, replans: 1 });
      expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual(["Home Movies", "Settings Movies"]);
    });

    test("leaves the position unknown when the navigation fails, and says why", async () => {
      const { go, position } = await labWith({ "Home → Movies": broken("Home", "Movies") });
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: false, verified: false, status: "failed" });
      expect(report.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", command: "click_element" });
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("is tried at most three times in all", async () => {
      const ways = Object.fromEntries(
        ["Home → Movies", "b", "c", "d"].map((key) => [key, broken("Home", "Movies")]),
      );
      const { go } = await labWith(ways);
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: false, replans: 2, error: { code: "ELEMENT_NOT_FOUND" } });
      expect(report.legs.filter(({ to }) => to === "Movies")).toHaveLength(3);
    });

    test("whose target is not verified says what was expected and found", async () => {
      const nowhere = { source: "Home", target: "Movies", action_sets: [{ actions: [press("UP")] }] };
      const { go } = await labWith({ "Home → Movies": nowhere, b: nowhere, c: nowhere });
      const { report } = await go("Movies");
      expect(report.error?.code).toBe("VERIFICATION_FAILED");
      expect(report.error?.message).toMatch(/"Movies" was not verified: expected .*All movies.*; found/);
      expect(report.verdicts).toMatchObject([{ pass: false }]);
    });
  });

  describe("conditional edges", () => {
    const either = (target: string, command: string) => ({
      source: "Home",
      target,
      conditional: true,
      action_sets: [{ id: "open", actions: [click(command)] }],
    });

    test("run once, and the target that verifies decides", async () => {
      const { go, position, userinterfaces, app } = await labWith({
        "Home → Movies": either("Movies", "Settings"),
        "Home → Settings": either("Settings", "Settings"),
      });
      const { report } = await go("Settings");
      expect(report).toMatchObject({ reached: true, verified: true, at: "Settings", replans: 0 });
      expect(await position()).toMatchObject({ node: "Settings" });
      await go("Home");
      const missed = await go("Movies");
      expect(missed.report).toMatchObject({ reached: false });
      const reliability = async (edge: string) => (await userinterfaces.getEdge(app, edge)).reliability[0];
      expect(await reliability("Home → Settings")).toMatchObject({ success_rate: 1 });
      expect(await reliability("Home → Movies")).toMatchObject({ success_rate: 0 });
    });

    test("that led elsewhere are gone on from there", async () => {
      const onward = {
        source: "Settings",
        target: "Movies",
        action_sets: [{ actions: [press("BACK"), click("Movies")] }],
      };
      const { go } = await labWith({
        "Home → Movies": either("Movies", "Settings"),
        "Home → Settings": either("Settings", "Settings"),
        onward,
      });
      await go("Home");
      const { report } = await go("Movies");
      expect(report).toMatchObject({ reached: true, verified: true, replans: 1 });
      expect(report.legs.map(({ from, to }) => `${from} ${to}`)).toEqual([
        "Home Settings",
        "Settings Movies",
      ]);
    });
  });

  describe("a run that ends on the way", () => {
    /** Lets a test act between the actions of a step and what follows. */
    const afterActions =
      (hook: (count: number) => void) =>
      (actions: ActionExecutor): ActionExecutor => {
        let count = 0;
        return {
          ...actions,
          async run(...args) {
            const report = await actions.run(...args);
            hook(++count);
            return report;
          },
        };
      };

    test("by cancellation stops inside of a step, throws the reason and leaves the position unknown", async () => {
      const cancel = new AbortController();
      const reason = new Error("cancelled by the test");
      const { navigation, device, app, position } = await labWith(
        {
          "Home → Live": {
            source: "Home",
            target: "Live",
            action_sets: [{ actions: [click("Live TV")], kpi: [shows("Guide")] }],
          },
        },
        { wrapActions: afterActions((count) => count === 1 && cancel.abort(reason)) },
      );
      const { run, steps } = fakeRun(device, cancel.signal);
      await expect(navigation.navigate(run, { userinterface: app, target: "Live" })).rejects.toBe(reason);
      expect(steps).toMatchObject([{ label: "Home → Live", status: "cancelled" }]);
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("before it starts moves nothing", async () => {
      const { navigation, device, app } = await labWith();
      const { run, steps } = fakeRun(device, AbortSignal.abort(new Error("too late")));
      await expect(navigation.navigate(run, { userinterface: app, target: "Live" })).rejects.toThrow(
        "too late",
      );
      expect(steps).toEqual([]);
    });

    test("by its own time limit reports a timeout", async () => {
      const { go, position } = await labWith({}, { latencyMs: 40 });
      const { report, steps } = await go("Movies", { timeout_ms: 60 });
      expect(report).toMatchObject({
        reached: false,
        status: "timeout",
        error: { code: "EXECUTION_TIMEOUT" },
      });
      expect(steps.every(({ status }) => status === "timeout")).toBe(true);
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });
  });

  describe("what cannot be walked", () => {
    test("without an entry node and a known place is NO_ENTRY_NODE", async () => {
      const lab = await openLab(db);
      const name = `no entry ${randomUUID()}`;
      const tree = { nodes: [{ label: "Somewhere", verifications: [shows("not on any screen")] }] };
      await lab.files.importYaml(
        JSON.stringify({ format_version: 1, name, models: ["simulated"], tree }),
        false,
      );
      const { run } = fakeRun(lab.device);
      const report = await lab.navigation.navigate(run, { userinterface: name, target: "Somewhere" });
      expect(report).toMatchObject({ reached: false, status: "error", error: { code: "NO_ENTRY_NODE" } });
    });

    test("without a way is NO_PATH, and nothing is driven", async () => {
      const { go } = await labWith();
      const { report, steps } = await go("Blind");
      expect(report.error).toMatchObject({ code: "NO_PATH", message: expect.stringContaining('"Blind"') });
      expect(steps).toEqual([]);
    });

    test.each([
      ["that is a place", { type: "entry", verifications: [shows("Welcome home")] }, [press("OK")]],
      ["that only opens the app", { type: "entry" }, []],
    ])("a place that is left by no way, to which the app opens again, is NO_PATH: with an entry %s", async (_, entry, actions) => {
      const lab = await openLab(db);
      const name = `dead end ${randomUUID()}`;
      const nodes = [
        { label: "Start", ...entry },
        { label: "Home", verifications: [shows("Welcome home")] },
        { label: "Movies", verifications: [shows("All movies")] },
      ];
      const edges = [{ source: "Start", target: "Home", action_sets: [{ actions }] }];
      const app = { package: "simulated.movies" };
      const yaml = { format_version: 1, name, models: ["simulated"], app, tree: { nodes, edges } };
      await lab.files.importYaml(JSON.stringify(yaml), false);
      const { run } = fakeRun(lab.device);
      const toMovies = { actions: [press("HOME"), click("Movies")], retry_actions: [], failure_actions: [] };
      await lab.actions.run(lab.device, toMovies, { variables: {}, signal: run.signal });
      const report = await lab.navigation.navigate(run, { userinterface: name, target: "Home" });
      expect(report).toMatchObject({
        status: "error",
        error: { code: "NO_PATH", message: expect.stringMatching(/from "Movies" to "Home".*opened again/) },
      });
    });

    test("an app that jumps back to such a place on a later step has failed", async () => {
      const lab = await openLab(db);
      const name = `jumps back ${randomUUID()}`;
      const nodes = [
        { label: "Start", type: "entry" },
        { label: "Live", verifications: [shows("Now playing: News")] },
        { label: "Guide", verifications: [shows("Tonight")] },
        { label: "Settings", verifications: [shows("Device settings")] },
      ];
      const edges = [
        { source: "Start", target: "Live", action_sets: [{ actions: [] }] },
        { source: "Live", target: "Settings", action_sets: [{ actions: [click("Guide")] }] },
      ];
      const app = { package: "simulated.live" };
      const yaml = { format_version: 1, name, models: ["simulated"], app, tree: { nodes, edges } };
      await lab.files.importYaml(JSON.stringify(yaml), false);
      const { run } = fakeRun(lab.device);
      const actions = [press("HOME"), click("Live TV"), click("Guide")];
      const toGuide = { actions, retry_actions: [], failure_actions: [] };
      await lab.actions.run(lab.device, toGuide, { variables: {}, signal: run.signal });
      const report = await lab.navigation.navigate(run, { userinterface: name, target: "Settings" });
      expect(report).toMatchObject({
        status: "failed",
        legs: [{ to: "Live", verified: true }, { ok: false }],
      });
    });

    test("an unknown node is named with the nearest before anything moves", async () => {
      const { go } = await labWith();
      await expect(go("Movis")).rejects.toMatchObject({
        code: "NODE_NOT_FOUND",
        details: { nearest: ["Movies"] },
      });
    });
  });

  describe("one edge", () => {
    test("runs from where the device is and is checked", async () => {
      const { navigation, device, app, lab } = await labWith();
      await drive(lab, "HOME");
      const { run } = fakeRun(device);
      const report = await navigation.executeEdge(run, { userinterface: app, edge: "Home -> Settings" });
      expect(report).toMatchObject({ reached: true, verified: true, at: "Settings" });
    });

    test("measures its KPI where it declares one", async () => {
      const timed = {
        source: "Home",
        target: "Movies",
        action_sets: [{ actions: [click("Movies")], kpi: [shows("The Long Take")] }],
      };
      const { navigation, device, app, lab } = await labWith({ "Home → Movies": timed });
      await drive(lab, "HOME");
      const { run } = fakeRun(device);
      const report = await navigation.executeEdge(run, { userinterface: app, edge: "Home → Movies" });
      expect(report.legs[0]?.kpi_ms).toBeGreaterThanOrEqual(0);
      expect((await lab.userinterfaces.getEdge(app, "Home → Movies")).reliability[0]).toHaveProperty(
        "kpi_median_ms",
      );
    });

    test("names its action sets when it has not the one that was asked for", async () => {
      const { navigation, device, app } = await labWith();
      const { run } = fakeRun(device);
      const asked = { userinterface: app, edge: "Home → Live", action_set: "sideways" };
      await expect(navigation.executeEdge(run, asked)).rejects.toMatchObject({
        code: "EDGE_NOT_FOUND",
        details: { candidates: ["forward", "reverse"] },
      });
    });
  });

  describe("a validation", () => {
    test("walks every action set of every edge and reports each", async () => {
      const bad = { source: "Movies", target: "Settings", action_sets: [{ actions: [click("Gone")] }] };
      const { navigation, device, app } = await labWith({ bad });
      const { run } = fakeRun(device);
      const report = await navigation.validate(run, { userinterface: app });
      expect(report).toMatchObject({ passed: 7, failed: 1, unverified: 0 });
      const failed = report.trials.filter(({ ok }) => !ok);
      expect(failed).toMatchObject([
        { edge: "Movies → Settings", reached_source: true, error: { code: "ELEMENT_NOT_FOUND" } },
      ]);
    });

    test("says which edge could not be tried because its source was not reached", async () => {
      const island = { source: "Blind", target: "Home", action_sets: [{ actions: [press("HOME")] }] };
      const { navigation, device, app } = await labWith({ island });
      const { run } = fakeRun(device);
      const report = await navigation.validate(run, { userinterface: app });
      expect(report.trials.filter(({ ok }) => !ok)).toMatchObject([
        { edge: "Blind → Home", reached_source: false, error: { code: "NO_PATH" } },
      ]);
    });
  });

  test("an edit is seen by the next navigation", async () => {
    const { go, userinterfaces, app } = await labWith({ "Home → Movies": undefined });
    expect((await go("Movies")).report).toMatchObject({ reached: false, error: { code: "NO_PATH" } });
    await userinterfaces.createEdge(app, {
      source: "Home",
      target: "Movies",
      priority: "p2",
      final_wait_ms: 0,
      action_sets: [
        { direction: "forward", actions: [click("Movies")], retry_actions: [], failure_actions: [] },
      ],
    });
    expect((await go("Movies")).report).toMatchObject({ reached: true, verified: true });
  });

  test("a preview draws the map in a few lines", async () => {
    const { navigation, app } = await labWith();
    const { map, more } = await navigation.preview(app, 1_000);
    expect(more).toBe(0);
    expect(map.split("\n").slice(0, 3)).toEqual([
      "Start (entry) → Home",
      "Home → Live, Movies, Settings",
      "Live → Home",
    ]);
    expect(map).toContain("Blind?");
  });
});
