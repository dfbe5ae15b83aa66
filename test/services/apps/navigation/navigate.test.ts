import { beforeAll, describe, expect, test } from "vitest";
import type { Database } from "#mcp-server/storage/index.ts";
import { navigationRows } from "#mcp-server/storage/rows/navigationRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { boxYaml, click, drive, fakeRun, labOf, labWith, place, press, shows, way } from "./lab.ts";

let db: Database;

const reached = { reached: true, verified: true };

describeEachDatabase("navigation", (open) => {
  beforeAll(async () => {
    ({ db } = await open());
  });

  test("goes from a place that it recognises, and says what it walked and verified", async () => {
    const { go, position } = await labWith(db);
    const { report, steps, counted } = await go("Movies");
    expect(report).toMatchObject({ ...reached, status: "passed", at: "Movies", replans: 0 });
    expect(report.legs).toMatchObject([{ from: "Home", to: "Movies", verified: true }]);
    expect(report.confidence).toBe(0.5);
    expect(steps).toMatchObject([{ label: "Home → Movies", status: "passed", kind: "navigation" }]);
    expect(counted.checks).toBe(1);
    expect(await position()).toMatchObject({ node: "Movies", verified: true, source: "tracked" });
  });

  test("starts at the entry, whose edges run from anywhere, when it recognises nothing", async () => {
    const { go, lab, userinterfaces, app } = await labWith(db);
    await userinterfaces.updateNode(app, "Live", { verifications: [shows("not on any screen")] });
    for (const key of ["HOME", "OK"]) await drive(lab, key);
    const { report, trail } = await go("Movies");
    expect(report).toMatchObject({ ...reached, replans: 0 });
    expect(trail).toEqual(["Start Home", "Home Movies"]);
  });

  test("opens the app as its model says when the entry is a place that does not show", async () => {
    const { lab, name, go } = await labOf(
      db,
      {
        nodes: [place("Home", "Welcome home", { type: "entry" }), place("Movies", "All movies")],
        edges: [way("Home", "Movies", [click("Movies")])],
      },
      { url: "https://app.test/", package: "simulated.home" },
    );
    for (const key of ["HOME", "OK"]) await drive(lab, key);
    const { report, steps, labels } = await go("Movies");
    expect(report).toMatchObject(reached);
    expect(steps[0]?.output).toMatchObject({ results: [{ command: "open_app", message: "opened Home" }] });
    expect(labels).toEqual([`open ${name}`, "Home → Movies"]);
  });

  describe("an app that is not in front", () => {
    /** Opens at Movies; its Settings are those of another app. */
    const labOfMovies = (app: object = { package: "simulated.movies" }) =>
      labOf(
        db,
        {
          nodes: [
            place("Movies", "All movies", { type: "entry" }),
            place("Settings", "Device settings"),
            place("Tiles", "Welcome home"),
          ],
          edges: [
            way("Movies", "Settings", [press("HOME"), click("Settings")]),
            way("Movies", "Tiles", [press("HOME")]),
          ],
        },
        app,
      );

    test("is opened at the start, whatever the other app shows", async () => {
      const { lab, name, go } = await labOfMovies();
      await drive(lab, "HOME");
      const { report, labels } = await go("Tiles");
      expect(labels).toEqual([`open ${name}`, "Movies → Tiles"]);
      expect(report).toMatchObject(reached);
      lab.devices.drivenOutsideNavigation(lab.device.id);
      await lab.userinterfaces.updateNode(name, "Movies", { verifications: [shows("Welcome home")] });
      const entry = await go("Movies");
      expect(entry.labels).toEqual([`open ${name}`]);
      expect(entry.report).toMatchObject({ reached: false, error: { code: "VERIFICATION_FAILED" } });
    });

    test("is left alone where nothing says which app is in front", async () => {
      const { lab, go } = await labOfMovies({ package: "no.such.app" });
      await drive(lab, "HOME");
      expect(await go("Tiles")).toMatchObject({ report: reached, labels: [] });
    });

    test("is left alone on the way of a run that was led there, and by a navigation right behind another", async () => {
      const { lab, name, go } = await labOfMovies();
      const fake = fakeRun(lab.device);
      const opened = [`open ${name}`, "Movies → Settings"];
      expect((await go("Settings", { fake })).labels).toEqual(opened);
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect((await go("Settings", { fake })).labels).toHaveLength(2);
      expect((await go("Settings")).labels).toEqual([]);
      const testcase = fakeRun(lab.device);
      testcase.run.kind = "testcase";
      expect((await go("Settings", { fake: testcase })).labels).toEqual(opened);
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect((await go("Settings")).labels).toEqual(opened);
    });

    test("is opened though someone asked where the device is", async () => {
      const { lab, name, go } = await labOfMovies();
      await drive(lab, "HOME");
      const never = new AbortController().signal;
      await lab.navigation.position(lab.device, { userinterface_name: name, identify: true }, never);
      expect((await go("Tiles")).labels).toEqual([`open ${name}`, "Movies → Tiles"]);
    });
  });

  test("enters a subtree through its entry and leaves it again", async () => {
    const inner = {
      nodes: [place("Settings list", "Parental lock", { type: "entry" }), place("Locked", "Device name")],
      edges: [way("Settings list", "Locked", [click("Parental lock")], [press("UP")])],
    };
    const { lab, go } = await labOf(db, {
      nodes: [
        { label: "Start", type: "entry" },
        place("Home", "Welcome home"),
        place("Settings", "Device settings", { subtree: inner }),
      ],
      edges: [
        way("Start", "Home", [press("HOME")]),
        way("Home", "Settings", [click("Settings")], [press("BACK")]),
      ],
    });
    await drive(lab, "HOME");
    const walk = async (target: string) => {
      const { report } = await go(target);
      expect(report).toMatchObject(reached);
      return report.legs.map(({ kind, to }) => `${kind} ${to}`);
    };
    expect(await walk("Locked")).toEqual(["edge Settings", "enter Settings list", "edge Locked"]);
    expect(await walk("Home")).toEqual(["edge Settings list", "exit Settings", "edge Home"]);
  });

  test("stores each edge's and node's run with outcome and duration, and learns from it", async () => {
    const { go, userinterfaces, app } = await labWith(db);
    await go("Live");
    const [edge, node] = [
      await userinterfaces.getEdge(app, "Home → Live"),
      await userinterfaces.getNode(app, "Live"),
    ];
    const rows = navigationRows(db);
    expect(await rows.summaryOf("edge", edge.id, "simulated")).toMatchObject([
      { action_set_id: "forward", runs: 1, successes: 1 },
    ]);
    expect(await rows.summaryOf("node", node.id)).toMatchObject([{ runs: 1, successes: 1 }]);
    await go("Home");
    const { report } = await go("Live");
    expect(report.confidence).toBeCloseTo(2 / 3, 3);
    expect((await userinterfaces.getEdge(app, "Home → Live")).reliability).toMatchObject([
      { action_set: "forward", runs: 2, success_rate: 1 },
      { action_set: "reverse", runs: 1, success_rate: 1 },
    ]);
  });

  test("stays where it is when the target shows already, and has looked", async () => {
    const { go } = await labWith(db);
    await go("Movies");
    const { report, counted } = await go("Movies");
    expect(report).toMatchObject({ ...reached, legs: [] });
    expect(counted.checks).toBe(1);
  });

  test("reaches a target without checks, and never calls it verified", async () => {
    const { go, position } = await labWith(db, { blind: way("Movies", "Blind", [press("DOWN")]) });
    const { report } = await go("Blind");
    expect(report).toMatchObject({ reached: true, verified: false, at: "Blind" });
    expect(report.legs.at(-1)).toMatchObject({ to: "Blind", ok: true, verified: false });
    expect(await position()).toMatchObject({ node: "Blind", verified: false });
  });

  test("runs an action node's actions and stays where it was", async () => {
    const { go, position } = await labWith(db, { mute: way("Live", "Mute", [press("UP")]) });
    const { report } = await go("Mute");
    expect(report).toMatchObject({ reached: true, verified: false, at: "Live" });
    expect(await position(true)).toMatchObject({ node: "Live", verified: true });
  });

  describe("a position", () => {
    test("that is fresh is trusted without a snapshot", async () => {
      const { go, lab } = await labWith(db);
      await go("Movies");
      // Navigation does not know of this, so it believes to be at Movies and walks back from there.
      await drive(lab, "HOME");
      expect((await go("Home")).trail).toEqual(["Movies Home"]);
    });

    test("that is stale is checked first, and the screen searched when it is wrong", async () => {
      const clock = fakeClock();
      const { go, lab, position } = await labWith(db, {}, { clock });
      await go("Movies");
      await drive(lab, "HOME");
      await clock.advance(30_001);
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
      expect((await go("Settings")).trail).toEqual(["Home Settings"]);
    });

    test("that is stale and still true is used", async () => {
      const clock = fakeClock();
      const { go } = await labWith(db, {}, { clock });
      await go("Movies");
      await clock.advance(60_000);
      expect((await go("Home")).trail).toEqual(["Movies Home"]);
    });

    test("becomes unverified when the device is driven outside navigation", async () => {
      const { go, lab, position } = await labWith(db);
      await go("Movies");
      await drive(lab, "HOME");
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
      const { report, trail } = await go("Settings");
      expect(report).toMatchObject({ reached: true, replans: 0 });
      expect(trail).toEqual(["Home Settings"]);
    });

    test("without checks is unknown once the device was driven by another client", async () => {
      const { go, lab, position } = await labWith(db, { blind: way("Movies", "Blind", [press("DOWN")]) });
      await go("Blind");
      lab.devices.drivenOutsideNavigation(lab.device.id);
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("is identified from the screen, or honestly unknown", async () => {
      const { lab, position, userinterfaces, app } = await labWith(db);
      await drive(lab, "HOME");
      expect(await position(true)).toMatchObject({ node: "Home", verified: true, source: "identified" });
      await userinterfaces.updateNode(app, "Home", { verifications: [shows("nothing of the kind")] });
      expect(await position(true)).toEqual({ verified: false, source: "unknown", looked_at: 4 });
      expect(await position()).toEqual({ verified: false, source: "unknown" });
    });

    test("of one app is doubted when navigation drives the device in another", async () => {
      const { lab, go, position } = await labWith(db);
      await go("Movies");
      await lab.files.importYaml(boxYaml("another app"), true);
      await lab.navigation.navigate(fakeRun(lab.device).run, {
        userinterface: "another app",
        target: "Live",
      });
      expect(await position()).toMatchObject({ node: "Movies", verified: false });
    });
  });

  describe("one edge", () => {
    test("runs from where the device is and is checked", async () => {
      const { navigation, device, app, lab } = await labWith(db);
      await drive(lab, "HOME");
      const asked = { userinterface: app, edge: "Home -> Settings" };
      const report = await navigation.executeEdge(fakeRun(device).run, asked);
      expect(report).toMatchObject({ ...reached, at: "Settings" });
    });

    test("measures its KPI where it declares one", async () => {
      const timed = {
        ...way("Home", "Movies", []),
        action_sets: [{ actions: [click("Movies")], kpi: [shows("The Long Take")] }],
      };
      const { navigation, device, app, lab } = await labWith(db, { "Home → Movies": timed });
      await drive(lab, "HOME");
      const asked = { userinterface: app, edge: "Home → Movies" };
      const report = await navigation.executeEdge(fakeRun(device).run, asked);
      expect(report.legs[0]?.kpi_ms).toBeGreaterThanOrEqual(0);
      const { reliability } = await lab.userinterfaces.getEdge(app, "Home → Movies");
      expect(reliability[0]).toHaveProperty("kpi_median_ms");
    });

    test("names its action sets when it has not the one that was asked for", async () => {
      const { navigation, device, app } = await labWith(db);
      const asked = { userinterface: app, edge: "Home → Live", action_set: "sideways" };
      await expect(navigation.executeEdge(fakeRun(device).run, asked)).rejects.toMatchObject({
        code: "EDGE_NOT_FOUND",
        details: { candidates: ["forward", "reverse"] },
      });
    });
  });

  test.each([
    ["walks every action set of every edge and reports each", "Movies", true, "ELEMENT_NOT_FOUND"],
    ["says which edge could not be tried because its source was not reached", "Blind", false, "NO_PATH"],
  ])("a validation %s", async (_what, source, reached_source, code) => {
    const { navigation, device, app } = await labWith(db, { bad: way(source, "Settings", [click("Gone")]) });
    const report = await navigation.validate(fakeRun(device).run, { userinterface: app });
    expect(report).toMatchObject({ passed: 7, failed: 1, unverified: 0 });
    const failed = report.trials.filter(({ ok }) => !ok);
    expect(failed).toMatchObject([{ edge: `${source} → Settings`, reached_source, error: { code } }]);
  });

  test("a failure says whether its input was sent, and how many actions were done before it", async () => {
    const actions = [{ command: "press_key", params: { key: "DOWN" } }, click("Gone")];
    const { go } = await labWith(db, { "Home → Movies": way("Home", "Movies", actions) });
    await go("Home");
    const { report } = await go("Movies");
    expect(report.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", dispatched: "no", steps_before: 1 });
  });

  test("an edit is seen by the next navigation", async () => {
    const { go, userinterfaces, app } = await labWith(db, { "Home → Movies": undefined });
    expect((await go("Movies")).report).toMatchObject({ reached: false, error: { code: "NO_PATH" } });
    await userinterfaces.createEdge(app, {
      ...{ source: "Home", target: "Movies", priority: "p2", final_wait_ms: 0 },
      action_sets: [
        { direction: "forward", actions: [click("Movies")], retry_actions: [], failure_actions: [] },
      ],
    });
    expect((await go("Movies")).report).toMatchObject(reached);
  });

  test("a preview draws the map in a few lines", async () => {
    const { navigation, app } = await labWith(db);
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
