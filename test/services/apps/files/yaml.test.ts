import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type TestCaseInput, testcaseSchema } from "#mcp-server/domain/index.ts";
import { type AppFilesDependencies, createAppFiles } from "#mcp-server/services/apps/files/index.ts";
import { readTest, writeTest } from "#mcp-server/services/apps/steps/index.ts";
import { createUserInterfaces } from "#mcp-server/services/apps/userinterfaces/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import type { Database, Storage } from "#mcp-server/storage/index.ts";
import { navigationRows } from "#mcp-server/storage/rows/navigationRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";
import { boxYaml, click, noReferences, noTestcases, press, way } from "../navigation/lab.ts";

let db: Database;
type TestCases = AppFilesDependencies["testcases"];

/** The models of apps, and their files. */
function serviceWith(testcases: TestCases = noTestcases, references = noReferences) {
  const userinterfaces = createUserInterfaces({ db, clock: systemClock });
  return {
    ...userinterfaces,
    ...createAppFiles({ db, clock: systemClock, userinterfaces, testcases, references, verbs: builtInVerbs }),
  };
}

/** An app whose nodes the tests name. */
const places = [{ label: "Home", verifications: [], pass_condition: "all" as const }];
const vocabulary = { places, testcases: [], commands: undefined, checks: undefined };
const language = { vocabulary, verbs: builtInVerbs() };

/** Test cases in memory, in place of the real ones. */
function memoryTestcases(): TestCases & { kept: TestCaseInput[] } {
  const kept: TestCaseInput[] = [];
  return {
    ...noTestcases,
    kept,
    exportFor: async ({ name }) => {
      const own = kept.filter(({ userinterface_name }) => userinterface_name === name);
      return own.map((testcase) => writeTest(testcase, language));
    },
    async importAll(list) {
      const testcases = list.map((given) => testcaseSchema.parse(readTest(given, language).value));
      kept.push(...testcases);
      return { names: testcases.map(({ name }) => name) };
    },
  };
}

/** Everything that the format can say, in an order that the export must not depend on. */
const full = (name: string, reversed = false) => {
  const ordered = <T>(list: T[]) => (reversed ? list.toReversed() : list);
  return JSON.stringify({
    testcases: ordered([
      {
        name: `${name} check`,
        userinterface_name: name,
        variables: { empty: [], nested: { b: 1, a: {} } },
        blocks: [
          { type: "start", id: "start" },
          { id: "go", type: "navigation", target: "Home" },
          { id: "end", type: "success" },
        ],
        edges: [
          { from: "start", to: "go" },
          { from: "go", to: "end" },
        ],
      },
    ]),
    name,
    format_version: 1,
    models: ["web", "simulated"],
    app: { url: "https://app.test/" },
    variables: { user: "anna", limits: { max: 3, min: 0 } },
    test_id_attribute: "data-qa",
    tree: {
      edges: ordered([
        way("Start", "Home", [{ command: "navigate_to_url", params: { url: "{{app.url}}" } }]),
        way("Home", "Menu", [], undefined, {
          ...{ priority: "p1", sibling_shortcuts: true, final_wait_ms: 50 },
          action_sets: [
            {
              id: "tap",
              actions: [{ ...click("Menu"), iterator: 2, wait_ms: 10 }],
              retry_actions: [press("OK")],
              failure_actions: [press("HOME")],
              kpi: [{ command: "text_visible", params: { text: "Menu" } }],
            },
            { direction: "reverse", actions: [press("BACK")] },
          ],
        }),
        ...["A", "B"].map((target) =>
          way("Home", target, [], undefined, {
            conditional: true,
            action_sets: [{ id: "either", actions: [{ command: "reload" }] }],
          }),
        ),
      ]),
      nodes: ordered([
        { label: "Start", type: "entry" },
        {
          label: "Home",
          description: 'Über: "all" of it\nin two lines',
          position: { x: 10, y: -4 },
          pass_condition: "any",
          verifications: [
            { command: "text_visible", params: { text: "{{user}}" }, timeout_ms: 500 },
            { command: "text_visible", params: { text: "Error" }, negate: true },
          ],
        },
        {
          label: "Menu",
          protected: true,
          subtree: {
            name: "Menu tree",
            nodes: ordered([
              { label: "Top", type: "entry" },
              { label: "Deep" },
              { label: "Mute", type: "action" },
            ]),
            edges: ordered([...[way("Top", "Deep", []), way("Menu", "Deep", []), way("Deep", "Mute", [])]]),
          },
        },
        { label: "A" },
        { label: "B" },
      ]),
    },
  });
};

const failureOf = (attempt: Promise<unknown>): Promise<unknown> => attempt.catch((error: unknown) => error);

describeEachDatabase("a userinterface as YAML", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
    db = storage.db;
  });

  test("comes back the same after a round trip, test cases too", async () => {
    const testcases = memoryTestcases();
    const apps = serviceWith(testcases);
    const name = `full ${randomUUID()}`;
    expect(await apps.importYaml(full(name), false)).toMatchObject({
      name,
      trees: 2,
      nodes: 8,
      edges: 7,
      testcases: 1,
    });
    const first = await apps.exportYaml(name);
    await apps.remove(name, true);
    testcases.kept.length = 0;
    await apps.importYaml(first, false);
    expect(await apps.exportYaml(name)).toBe(first);
    expect(testcases.kept[0]?.variables).toEqual({ empty: [], nested: { b: 1, a: {} } });
  });

  test("is the same text whatever the order of what was imported, and holds no ids", async () => {
    const name = `full ${randomUUID()}`;
    const texts: string[] = [];
    for (const reversed of [false, true]) {
      const apps = serviceWith(memoryTestcases());
      await apps.importYaml(full(name, reversed), false);
      texts.push(await apps.exportYaml(name));
      await apps.remove(name, true);
    }
    expect(texts[1]).toBe(texts[0]);
    expect(texts[0]?.replaceAll(name, "")).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    expect(texts[0]?.split("\n").slice(0, 2)).toEqual([`name: ${name}`, "models: [ web, simulated ]"]);
  });

  test("leaves out what is a default, so that a diff shows what matters", async () => {
    const apps = serviceWith();
    const name = `box ${randomUUID()}`;
    await apps.importYaml(boxYaml(name), false);
    const text = await apps.exportYaml(name);
    for (const word of ["retry_actions", "protected", "priority", "position", "conditional", "screen"]) {
      expect(text).not.toContain(`${word}:`);
    }
  });

  test("replaces the one of its name only when asked to, and keeps ids and history where labels stay", async () => {
    const apps = serviceWith();
    const name = `box ${randomUUID()}`;
    await apps.importYaml(boxYaml(name), false);
    const before = await apps.getNode(name, "Live");
    const edge = await apps.getEdge(name, "Home → Live");
    const at = new Date(0).toISOString();
    const run = {
      subject: "edge" as const,
      subject_id: edge.id,
      action_set_id: "forward",
      device_model: "simulated",
    };
    await navigationRows(db).insert({ ...run, ok: true, duration_ms: 7, at });
    const changed = boxYaml(name, { "Home → Movies": undefined });
    expect(await failureOf(apps.importYaml(changed, false))).toMatchObject({ code: "ALREADY_EXISTS" });
    expect(await apps.importYaml(changed, true)).toMatchObject({ replaced: true, edges: 3 });
    expect((await apps.getNode(name, "Live")).id).toBe(before.id);
    expect(await apps.getEdge(name, "Home → Live")).toMatchObject({
      id: edge.id,
      reliability: [{ runs: 1, median_ms: 7 }],
    });
    expect(await failureOf(apps.getEdge(name, "Home → Movies"))).toMatchObject({ code: "EDGE_NOT_FOUND" });
  });

  test("stores nothing when its test cases cannot be stored", async () => {
    const name = `full ${randomUUID()}`;
    const apps = serviceWith({ ...noTestcases, importAll: () => Promise.reject(new Error("no room")) });
    await expect(apps.importYaml(full(name), false)).rejects.toThrow("no room");
    expect(await failureOf(apps.get(name))).toMatchObject({ code: "USERINTERFACE_NOT_FOUND" });
  });

  test("reports the test cases of the app that comes with them", async () => {
    const seen: unknown[] = [];
    const name = `full ${randomUUID()}`;
    const apps = serviceWith({
      ...noTestcases,
      async importAll(_list, options) {
        seen.push(...(options?.apps ?? []));
        return { names: [] };
      },
    });
    await apps.importYaml(full(name), false);
    expect(seen).toMatchObject([{ name, variables: { user: "anna", app: { url: "https://app.test/" } } }]);
  });

  test("is refused when it could not be read again, with the pictures that make it so large", async () => {
    const name = `full ${randomUUID()}`;
    const picture = { kind: "image", name: "Film", device_model: "web", png: "A".repeat(5_000_000) } as const;
    const apps = serviceWith(noTestcases, { ...noReferences, exportFor: async () => [picture] });
    await apps.importYaml(full(name), false);
    expect(await failureOf(apps.exportYaml(name))).toMatchObject({
      code: "INPUT_TOO_LARGE",
      hint: expect.stringContaining("Film (5000000 characters)"),
    });
  });

  describe("that is wrong", () => {
    const problemsOf = async (yaml: string) => {
      const failure = await failureOf(serviceWith().importYaml(yaml, false));
      expect(failure).toMatchObject({
        code: "INVALID_INPUT",
        hint: expect.stringContaining("Nothing was imported"),
      });
      return failure;
    };

    test("names every problem with its line", async () => {
      const yaml = `format_version: 1
name: Broken
models: [web]
colour: red
tree:
  nodes:
    - label: Home
      type: place
    - description: no label
`;
      expect(await problemsOf(yaml)).toMatchObject({
        details: {
          problems: [
            { line: 4, message: expect.stringMatching(/^unknown key "colour"; known are format_version,/) },
            { line: 8, path: "tree.nodes[0].type" },
            { line: 9, path: "tree.nodes[1].label" },
          ],
        },
      });
    });

    test("in its graph names every problem with its line", async () => {
      const yaml = `format_version: 1
name: Broken
models: [web]
tree:
  nodes:
    - { label: Home, type: entry }
    - { label: Home }
    - { label: Other, type: entry }
  edges:
    - { source: Home, target: Nowhere, action_sets: [{ actions: [] }] }
    - { source: Home, target: Home, action_sets: [{ actions: [] }] }
`;
      expect(await problemsOf(yaml)).toMatchObject({
        details: {
          problems: [
            { line: 7, message: expect.stringContaining("already has a node") },
            { line: 8, message: expect.stringContaining("second entry") },
            { line: 10, message: expect.stringContaining('target "Nowhere" is not a node') },
            { line: 11, message: expect.stringContaining("lead to itself") },
          ],
        },
      });
    });

    test.each([
      ["no YAML at all", "name: [unclosed", /line \d/],
      ["another version of the format", "format_version: 2\nname: x\nmodels: [web]\n", /format_version/],
      ["aliases that multiply", `a: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}`, /./],
      ["a text", "just words", /./],
    ])("because it is %s is refused", async (_what, yaml, message) => {
      expect(await problemsOf(yaml)).toMatchObject({ message: expect.stringMatching(message) });
    });

    test("because it is huge is refused before it is parsed", async () => {
      const failure = await failureOf(serviceWith().importYaml("x".repeat(5_000_001), false));
      expect(failure).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("5000001 characters"),
      });
    });
  });
});

/** Nine lists of nine aliases each: a billion values if they were written out. */
function bomb(): string {
  const names = [..."abcdefghi"];
  return names
    .slice(1)
    .map((name, n) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${names[n]}`).join(",")}]`)
    .join("\n");
}
