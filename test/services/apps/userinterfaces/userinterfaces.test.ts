import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type EdgeDraft,
  edgeDraftSchema,
  type NodeInput,
  nodeSchema,
  userInterfaceSchema,
} from "#mcp-server/domain/index.ts";
import { createAppFiles } from "#mcp-server/services/apps/files/index.ts";
import { createUserInterfaces } from "#mcp-server/services/apps/userinterfaces/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import type { Database } from "#mcp-server/storage/index.ts";
import { navigationRows } from "#mcp-server/storage/rows/navigationRows.ts";
import { positionRows } from "#mcp-server/storage/rows/positionRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";
import { boxYaml, click, noReferences, noTestcases, shows } from "../navigation/lab.ts";

let db: Database;

const node = (label: string, rest: Partial<NodeInput> = {}): NodeInput =>
  nodeSchema.parse({ label, ...rest });
const edge = (source: string, target: string, rest: object = {}): EdgeDraft =>
  edgeDraftSchema.parse({ source, target, action_sets: [{ actions: [click(target)] }], ...rest });

const newService = () => createUserInterfaces({ db, clock: systemClock });

/** A service with an empty app, or with the box's. */
async function appWith(yaml?: (name: string) => string) {
  const apps = newService();
  const app = `app ${randomUUID()}`;
  if (yaml) {
    const files = createAppFiles({
      ...{ db, clock: systemClock },
      userinterfaces: apps,
      testcases: noTestcases,
      references: noReferences,
      verbs: builtInVerbs,
    });
    await files.importYaml(yaml(app), false);
  } else await apps.create(userInterfaceSchema.parse({ name: app, models: ["web"] }));
  return { apps, app };
}

describeEachDatabase("userinterfaces", (open) => {
  beforeAll(async () => {
    ({ db } = await open());
  });

  test("is created empty, listed with what it holds, and got by name or id", async () => {
    const { apps, app } = await appWith();
    await apps.createNode(app, undefined, node("Home", { type: "entry" }));
    await apps.createNode(app, undefined, node("About"));
    await apps.createEdge(app, edge("Home", "About"));
    const { userinterfaces } = await apps.list(50_000);
    const line = userinterfaces.find(({ name }) => name === app);
    expect(line).toMatchObject({ models: ["web"], nodes: 2, edges: 1 });
    expect((await apps.get(line?.id ?? "")).name).toBe(app);
    expect(await apps.complete(app, { offset: 0, max_tokens: 2_000 })).toMatchObject({
      trees: [{ name: app }],
      nodes: [
        { label: "About", checks: 0 },
        { label: "Home", type: "entry" },
      ],
      edges: [{ edge: "Home → About", actions: "click_element" }],
      more: 0,
    });
  });

  test("that has a name already is ALREADY_EXISTS; one that is not there is named with the nearest", async () => {
    const { apps, app } = await appWith();
    const again = userInterfaceSchema.parse({ name: app, models: ["web"] });
    await expect(apps.create(again)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(apps.get(`${app}x`)).rejects.toMatchObject({
      code: "USERINTERFACE_NOT_FOUND",
      details: { nearest: expect.arrayContaining([app]) },
    });
  });

  test("is deleted with all it holds and its history, but only when that is confirmed", async () => {
    const { apps, app } = await appWith(boxYaml);
    const { ui, edges } = await apps.load(app);
    const [first] = [...edges.keys()];
    const run = { subject: "edge" as const, subject_id: first ?? "", device_model: "web", ok: true };
    await navigationRows(db).insert({ ...run, duration_ms: 1, at: new Date(0).toISOString() });
    await expect(apps.remove(app, false)).rejects.toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      details: { removes: { nodes: 7, edges: 4, trees: 1 }, nodes: expect.arrayContaining(["Home"]) },
    });
    expect(await apps.remove(app, true)).toEqual({ nodes: 7, edges: 4, trees: 1 });
    await expect(apps.load(ui.id)).rejects.toMatchObject({ code: "USERINTERFACE_NOT_FOUND" });
    expect(await navigationRows(db).summaryOf("edge", first ?? "")).toEqual([]);
  });

  describe("nodes", () => {
    test("are changed by id or label, and keep what was not named", async () => {
      const { apps, app } = await appWith();
      const made = await apps.createNode(
        app,
        undefined,
        node("Home", { description: "first", verifications: [shows("x")] }),
      );
      await apps.updateNode(app, "home", { label: "Start" });
      await apps.updateNode(app, made.id, { pass_condition: "any" });
      expect(await apps.getNode(app, "Start")).toMatchObject({
        id: made.id,
        description: "first",
        pass_condition: "any",
        verifications: [{ command: "text_visible" }],
      });
    });

    test("that are protected refuse change and removal unless the caller unprotects them", async () => {
      const { apps, app } = await appWith();
      await apps.createNode(app, undefined, node("Vault", { protected: true }));
      await expect(apps.updateNode(app, "Vault", { label: "Open" })).rejects.toMatchObject({
        code: "PROTECTED",
      });
      await expect(apps.deleteNode(app, "Vault", true)).rejects.toMatchObject({ code: "PROTECTED" });
      await expect(apps.createSubtree(app, "Vault", undefined)).rejects.toMatchObject({ code: "PROTECTED" });
      const { label } = await apps.updateNode(app, "Vault", { label: "Open", protected: false });
      expect(label).toBe("Open");
      expect(await apps.deleteNode(app, "Open", true)).toEqual({ nodes: 1, edges: 0, trees: 0 });
    });

    test("with one label in two trees are ambiguous, with candidates, until the tree or id is given", async () => {
      const { apps, app } = await appWith();
      for (const label of ["A", "B"]) {
        await apps.createNode(app, undefined, node(label));
        await apps.createSubtree(app, label, undefined);
        await apps.createNode(app, label, node("Details"));
      }
      const failure: unknown = await apps.getNode(app, "Details").catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "AMBIGUOUS",
        details: {
          candidates: [
            { label: "Details", tree: "A" },
            { label: "Details", tree: "B" },
          ],
        },
      });
      expect(await apps.getNode(app, "B/Details")).toMatchObject({ label: "Details", tree: "B" });
    });

    test("take the subtrees below them, their edges and positions along, and ask before", async () => {
      const { apps, app } = await appWith();
      const top = await apps.createNode(app, undefined, node("Top"));
      await apps.createNode(app, undefined, node("Side"));
      await apps.createEdge(app, edge("Top", "Side"));
      await apps.createSubtree(app, "Top", undefined);
      const inner = await apps.createNode(app, "Top", node("Inner"));
      await apps.createEdge(app, edge("Top", "Inner"));
      const { ui } = await apps.load(app);
      const at = new Date(0).toISOString();
      const position = {
        device_id: `d ${app}`,
        userinterface_id: ui.id,
        node_id: inner.id,
        verified: true,
        at,
      };
      await positionRows(db).put(position);
      await expect(apps.deleteNode(app, "Top", false)).rejects.toMatchObject({
        code: "CONFIRMATION_REQUIRED",
        details: { removes: { nodes: 2, edges: 2, trees: 1 } },
      });
      expect(await apps.deleteNode(app, top.id, true)).toEqual({ nodes: 2, edges: 2, trees: 1 });
      const fresh = await newService().load(app);
      expect([...fresh.nodes.values()].map(({ label }) => label)).toEqual(["Side"]);
      expect([fresh.edges.size, fresh.trees.size]).toEqual([0, 1]);
      expect(await positionRows(db).find(`d ${app}`, ui.id)).toMatchObject({
        node_id: undefined,
        verified: false,
      });
    });
  });

  describe("an invalid graph is refused", () => {
    type Apps = ReturnType<typeof newService>;
    const add =
      (tree: string | undefined, label: string, rest: Partial<NodeInput> = {}) =>
      (apps: Apps, app: string) =>
        apps.createNode(app, tree, node(label, rest));
    const join =
      (source: string, target: string, rest: object = {}) =>
      (apps: Apps, app: string) =>
        apps.createEdge(app, edge(source, target, rest));
    const twice = [
      { id: "a", actions: [] },
      { id: "a", actions: [] },
    ];

    test.each<[string, RegExp, (apps: Apps, app: string) => Promise<unknown>]>([
      ["a label twice in a tree", /already has a node "Home"/, add(undefined, "Home")],
      ["a second entry", /second entry of tree/, add(undefined, "Again", { type: "entry" })],
      ["an edge to itself", /lead to itself/, join("Home", "Home")],
      [
        "an edge into another tree that is not the node's own subtree",
        /different trees/,
        join("Live", "Deep"),
      ],
      [
        "an edge out of an action node",
        /action node, which is not a place to start from/,
        join("Mute", "Home"),
      ],
      ["an action set twice", /"a" is there twice/, join("Live", "Movies", { action_sets: twice })],
      [
        "a subtree's node named as the node it hangs on",
        /that this subtree hangs on/,
        add("Settings", "Settings"),
      ],
    ])("%s", async (_what, message, attempt) => {
      const { apps, app } = await appWith(boxYaml);
      await apps.createSubtree(app, "Settings", undefined);
      await apps.createNode(app, "Settings", node("Deep"));
      await expect(attempt(apps, app)).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(message),
      });
    });

    test("with every problem at once", async () => {
      const { apps, app } = await appWith(boxYaml);
      const sets = [
        { id: "a", actions: [] },
        { id: "a", direction: "reverse", actions: [] },
      ];
      const failure: unknown = await apps
        .createEdge(app, edge("Mute", "Mute", { action_sets: sets }))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ details: { problems: { length: 4 } } });
    });

    test("when both ends are unknown, naming both with their nearest", async () => {
      const { apps, app } = await appWith(boxYaml);
      await expect(apps.createEdge(app, edge("Hom", "Movis"))).rejects.toMatchObject({
        code: "NODE_NOT_FOUND",
        message: expect.stringMatching(/"Hom".*"Movis"/),
        hint: expect.stringMatching(/Home.*Movies/),
      });
    });

    test("when subtrees nest more than five deep", async () => {
      const { apps, app } = await appWith();
      await apps.createNode(app, undefined, node("n0"));
      for (let depth = 1; depth <= 5; depth++) {
        expect(await apps.createSubtree(app, `n${depth - 1}`, `t${depth}`)).toMatchObject({ depth });
        await apps.createNode(app, `t${depth}`, node(`n${depth}`));
      }
      await expect(apps.createSubtree(app, "n5", "t6")).rejects.toMatchObject({
        message: expect.stringContaining("at most 5 deep"),
      });
    });
  });

  describe("edges", () => {
    test("are found by id and by both of their ends, and are ambiguous when parallel", async () => {
      const { apps, app } = await appWith(boxYaml);
      const { id } = await apps.getEdge(app, "Home -> Live");
      expect(await apps.getEdge(app, id)).toMatchObject({ source: "Home", target: "Live" });
      await apps.createEdge(app, edge("Home", "Live", { priority: "p3" }));
      await expect(apps.getEdge(app, "Home → Live")).rejects.toMatchObject({ code: "AMBIGUOUS" });
      await expect(apps.getEdge(app, "Home → Liv")).rejects.toMatchObject({
        code: "EDGE_NOT_FOUND",
        details: { nearest: expect.arrayContaining(["Home → Live"]) },
      });
    });

    test("name action sets that have no id after their direction", async () => {
      const { apps, app } = await appWith(boxYaml);
      const sets = [{ actions: [] }, { direction: "reverse", actions: [] }, { actions: [] }];
      const { id } = await apps.createEdge(app, edge("Live", "Movies", { action_sets: sets }));
      const { action_sets } = await apps.getEdge(app, id);
      expect(action_sets.map((set) => set.id)).toEqual(["forward", "reverse", "forward_2"]);
    });

    test("that are conditional share their action set, also when it changes", async () => {
      const { apps, app } = await appWith(boxYaml);
      const shared = { conditional: true, action_sets: [{ id: "open", actions: [click("Anything")] }] };
      const one = await apps.createEdge(app, edge("Live", "Movies", shared));
      const two = await apps.createEdge(
        app,
        edge("Live", "Settings", { conditional: true, action_sets: [{ id: "open" }] }),
      );
      expect((await apps.getEdge(app, two.id)).action_sets).toMatchObject([
        { actions: [{ params: { selector: "Anything" } }] },
      ]);
      const other = { conditional: true, action_sets: [{ id: "open", actions: [click("Else")] }] };
      await expect(apps.createEdge(app, edge("Live", "Home", other))).rejects.toMatchObject({
        message: expect.stringContaining("share their action sets"),
      });
      await apps.updateEdge(app, two.id, { action_sets: edge("a", "b", other).action_sets });
      expect((await newService().getEdge(app, one.id)).action_sets).toMatchObject([
        { actions: [{ params: { selector: "Else" } }] },
      ]);
    });

    test("are deleted only when that is confirmed", async () => {
      const { apps, app } = await appWith(boxYaml);
      await expect(apps.deleteEdge(app, "Home → Live", false)).rejects.toMatchObject({
        code: "CONFIRMATION_REQUIRED",
      });
      expect(await apps.deleteEdge(app, "Home → Live", true)).toEqual({ edges: 1 });
      await expect(apps.getEdge(app, "Home → Live")).rejects.toMatchObject({ code: "EDGE_NOT_FOUND" });
    });

    test("are listed by node and by pages, with how many are left", async () => {
      const { apps, app } = await appWith(boxYaml);
      const all = await apps.listEdges(app, undefined, { offset: 0, max_tokens: 10 });
      expect([all.edges.length, all.more]).toEqual([1, 3]);
      const rest = await apps.listEdges(app, undefined, { offset: 1, max_tokens: 2_000 });
      expect([rest.edges.length, rest.more]).toEqual([3, 0]);
      const own = await apps.listEdges(app, "Live", { offset: 0, max_tokens: 2_000 });
      expect(own.edges.map((line) => line.edge)).toEqual(["Home → Live"]);
    });
  });

  test("edits that come at the same time are made one after the other", async () => {
    const { apps, app } = await appWith();
    const labels = Array.from({ length: 8 }, (_, n) => `n${n}`);
    await Promise.all(labels.map((label) => apps.createNode(app, undefined, node(label))));
    const twice = await Promise.allSettled([1, 2].map(() => apps.createNode(app, undefined, node("same"))));
    expect(twice.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await newService().load(app)).nodes.size).toBe(9);
  });

  test("an edit by another process is seen", async () => {
    const { apps, app } = await appWith();
    await apps.load(app);
    await newService().createNode(app, undefined, node("From elsewhere"));
    expect(await apps.getNode(app, "From elsewhere")).toMatchObject({ label: "From elsewhere" });
  });
});
