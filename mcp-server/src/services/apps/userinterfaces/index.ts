import { randomUUID } from "node:crypto";
import {
  type AppMap,
  databaseOnly,
  type Node,
  type Params,
  type Source,
  type StartWish,
  type UserInterface,
  type UserInterfaceInput,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { navigationRows } from "../../../storage/rows/navigationRows.ts";
import { positionRows } from "../../../storage/rows/positionRows.ts";
import { treeRows } from "../../../storage/rows/treeRows.ts";
import { type UserInterfaceRow, userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { projectInUse } from "../../records/inUse.ts";
import { pageOf } from "../../values/pages.ts";
import * as plans from "./edits.ts";
import { type AppModel, getEdge, getNode, variablesOf } from "./model.ts";
import { type Edit, Models, type SourceKeeper, uiOf } from "./models.ts";
import { edgeLine, edgeView, mapView, nodeLine, nodeView } from "./views.ts";

export type UserInterfaceDependencies = { db: Database; clock: Clock };

/** An app as test cases see it. */
export type AppView = {
  id: string;
  name: string;
  /** The folder of its project; empty where it has none. */
  project: string;
  app?: UserInterface["app"];
  variables: Params;
  test_id_attribute?: string;
  nodes: readonly Pick<Node, "id" | "label" | "verifications" | "pass_condition">[];
  start: StartWish;
};

/** An app to be stored. `make` gets the stored app of that name. Without a `source` that app's source stays. */
export type NewApp = {
  name: string;
  source?: Source | undefined;
  make(known: AppModel | undefined): AppModel;
};

type Page = { offset: number; max_tokens: number };

/** Names, ids and labels are taken alike; see `model.ts` for the errors. Any lookup throws USERINTERFACE_NOT_FOUND. */
export type UserInterfaceService = ReturnType<typeof createUserInterfaces>;

export function createUserInterfaces({ db, clock }: UserInterfaceDependencies) {
  const models = new Models(db, clock);
  const removeListeners: (() => Promise<void>)[] = [];
  const now = () => new Date(clock.now()).toISOString();
  return {
    ...editing(models),
    ...reading(db, models),
    /** Throws ALREADY_EXISTS. */
    async create(input: UserInterfaceInput): Promise<UserInterface> {
      const row = await ownRow(db, input.name);
      if (row && row.archived_at === null) throw taken(input.name, "Choose another name, or edit that one.");
      const ui = { id: randomUUID(), root_tree_id: randomUUID(), ...input };
      const at = now();
      await db.transaction(async (tx) => {
        const row = { ...ui, ...databaseOnly, archived_at: null, created_at: at, updated_at: at };
        await userinterfaceRows(tx).insert(row);
        await treeRows(tx).insertTrees([{ id: ui.root_tree_id, userinterface_id: ui.id, name: ui.name }]);
      });
      return ui;
    },
    /** Test cases stay, since they may run on other apps. Throws CONFIRMATION_REQUIRED, and PROTECTED for a file. */
    async remove(idOrName: string, confirm: boolean): Promise<plans.Removed> {
      const model = await models.load(idOrName);
      const removed = { nodes: model.nodes.size, edges: model.edges.size, trees: model.trees.size };
      const labels = [...model.nodes.values()].slice(0, 20).map(({ label }) => label);
      refuseFile(model);
      if (!confirm) throw plans.confirmation(`userinterface "${model.ui.name}"`, removed, { nodes: labels });
      await db.transaction(async (tx) => {
        await navigationRows(tx).forget([...model.nodes.keys(), ...model.edges.keys()]);
        await positionRows(tx).forgetApp(model.ui.id);
        await userinterfaceRows(tx).remove(model.ui.id);
      });
      for (const listener of removeListeners) await listener();
      return removed;
    },
    /** All or nothing. `storeWith` stores within the same transaction. Throws ALREADY_EXISTS unless `replace`. */
    async put(
      apps: readonly NewApp[],
      options: { replace: boolean; storeWith(tx: Database, models: readonly AppModel[]): Promise<void> },
    ): Promise<{ model: AppModel; replaced: boolean }[]> {
      const rows: (UserInterfaceRow | undefined)[] = [];
      const storeApp = async (tx: Database, { make, source }: NewApp, row: UserInterfaceRow | undefined) => {
        const known = row && (await models.loadWithin(tx, row.id));
        const model = { ...make(known), source: source ?? known?.source ?? databaseOnly };
        await storeModel(tx, model, known, row?.created_at ?? now(), now());
        return model;
      };
      const storeAll = async (tx: Database) => {
        for (const app of apps) rows.push(await rowFor(tx, app));
        if (!options.replace) refuseReplacing(rows);
        const stored: AppModel[] = [];
        for (const [index, app] of apps.entries()) stored.push(await storeApp(tx, app, rows[index]));
        await options.storeWith(tx, stored);
        // What was loaded from a file is in it already.
        const written = stored.filter((_, index) => apps[index]?.source === undefined);
        for (const { source } of written) await models.keep(tx, source);
        return stored;
      };
      const stored = await models.alone(() => db.transaction(storeAll));
      return stored.map((model, index) => ({ model, replaced: rows[index] !== undefined }));
    },
    /** Sets who writes files when what they hold was stored. */
    keepSources: (keeper: SourceKeeper) => models.keepSources(keeper),
    /** The listener runs after an app was removed, before `remove` returns. */
    onRemove: (listener: () => Promise<void>) => void removeListeners.push(listener),
  };
}

function editing(models: Models) {
  const by =
    <Args extends unknown[], Result>(plan: (model: AppModel, ...args: Args) => Edit<Result>) =>
    (userinterface: string, ...args: Args): Promise<Result> =>
      models.edit(userinterface, (model) => plan(model, ...args));
  return {
    createNode: by(plans.planNewNode),
    updateNode: by(plans.planNodeChange),
    deleteNode: by(plans.planNodeRemoval),
    setScreenshot: by(plans.planScreenshot),
    createSubtree: by(plans.planSubtree),
    createEdge: by(plans.planNewEdge),
    updateEdge: by(plans.planEdgeChange),
    deleteEdge: by(plans.planEdgeRemoval),
  };
}

function reading(db: Database, models: Models) {
  return {
    async list(maxTokens: number) {
      const rows = await userinterfaceRows(db).list();
      const lines = rows.map(({ id, name, project, models: runsOn, nodes, edges }) => ({
        ...{ id, name, ...(project !== "" && { project }), models: runsOn, nodes, edges },
      }));
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { userinterfaces: items, more };
    },
    async get(idOrName: string): Promise<UserInterface> {
      return uiOf(await models.getRow(idOrName));
    },
    /** The whole app, shared with the cache: read it, never change it. */
    load: (idOrName: string) => models.load(idOrName),
    loadWithin: (tx: Database, idOrName: string) => models.loadWithin(tx, idOrName),
    /** Within the caller's transaction, if one is given. */
    async describe(idOrName: string, tx?: Database): Promise<AppView> {
      return appView(await (tx ? models.loadWithin(tx, idOrName) : models.load(idOrName)));
    },
    /** Nodes first, then edges, from `offset` on; `more` is how many of both are left. */
    async complete(idOrName: string, { offset, max_tokens }: Page) {
      const model = await models.load(idOrName);
      const lines = [
        ...[...model.nodes.values()].map((node) => nodeLine(model, node)),
        ...[...model.edges.values()].map((edge) => edgeLine(model, edge)),
      ];
      const { items, more } = pageOf(lines, offset, max_tokens);
      return {
        ...model.ui,
        trees: [...model.trees.values()].map(({ id, name, parent_node_id }) => ({
          ...{ id, name },
          ...(parent_node_id && { below: model.nodes.get(parent_node_id)?.label ?? parent_node_id }),
        })),
        nodes: items.filter((line) => "label" in line),
        edges: items.filter((line) => "edge" in line),
        more,
      };
    },
    async getNode(idOrName: string, node: string) {
      const model = await models.load(idOrName);
      const found = getNode(model, node);
      return nodeView(model, found, await navigationRows(db).summaryOf("node", found.id));
    },
    async getEdge(idOrName: string, edge: string) {
      const model = await models.load(idOrName);
      const found = getEdge(model, edge);
      return edgeView(model, found, await navigationRows(db).summaryOf("edge", found.id));
    },
    /** The whole app, for a drawing of it. `picture` is an artifact's URI. */
    async map(idOrName: string): Promise<AppMap> {
      const model = await models.load(idOrName);
      return mapView(model, await navigationRows(db).summaries(model.ui.id));
    },
    async listEdges(idOrName: string, node: string | undefined, { offset, max_tokens }: Page) {
      const model = await models.load(idOrName);
      const end = node === undefined ? undefined : getNode(model, node).id;
      const lines = [...model.edges.values()]
        .filter(({ source, target }) => end === undefined || source === end || target === end)
        .map((edge) => edgeLine(model, edge));
      const { items, more } = pageOf(lines, offset, max_tokens);
      return { edges: items, more };
    },
  };
}

export function appView({ ui, source, nodes }: AppModel): AppView {
  return {
    id: ui.id,
    name: ui.name,
    project: source.project,
    app: ui.app,
    variables: variablesOf(ui),
    test_id_attribute: ui.test_id_attribute,
    nodes: [...nodes.values()],
    start: { fresh: ui.app.fresh, storage_state: ui.app.storage_state, setup: ui.app.setup },
  };
}

async function ownRow(db: Database, name: string): Promise<UserInterfaceRow | undefined> {
  const rows = userinterfaceRows(db);
  return (await rows.findIn(projectInUse(), name)) ?? rows.findIn("", name);
}

const rowFor = (db: Database, { name, source }: NewApp) =>
  source ? userinterfaceRows(db).findIn(source.project, name) : ownRow(db, name);

function refuseReplacing(rows: readonly (UserInterfaceRow | undefined)[]): void {
  const present = rows.find((row) => row && row.archived_at === null);
  if (present) throw taken(present.name, "Pass replace: true to put this one in its place.");
}

/** A tool does not delete a file that its author wrote. */
function refuseFile({ ui, source }: AppModel): void {
  if (source.file === null) return;
  throw new ToolError(
    "PROTECTED",
    `The userinterface "${ui.name}" is the file ${source.file} of ${source.project}.`,
    "Delete that file; the next run or import of its folder archives what it held.",
  );
}

const taken = (name: string, hint: string) =>
  new ToolError("ALREADY_EXISTS", `There already is a userinterface "${name}".`, hint);

async function storeModel(
  tx: Database,
  model: AppModel,
  known: AppModel | undefined,
  createdAt: string,
  at: string,
): Promise<void> {
  const rows = { app: userinterfaceRows(tx), tree: treeRows(tx) };
  const row = { ...model.ui, ...model.source, archived_at: null, created_at: createdAt, updated_at: at };
  if (known) {
    await rows.app.update({ ...row, updated_at: known.updated_at });
    await rows.app.touch(row.id, at);
    await rows.tree.removeTrees([...known.trees.keys()]);
    const goneNodes = [...known.nodes.keys()].filter((id) => !model.nodes.has(id));
    const goneEdges = [...known.edges.keys()].filter((id) => !model.edges.has(id));
    await navigationRows(tx).forget([...goneNodes, ...goneEdges]);
    await positionRows(tx).leaveNodes(goneNodes);
  } else {
    await rows.app.insert(row);
  }
  await rows.tree.insertTrees([...model.trees.values()]);
  await rows.tree.insertNodes([...model.nodes.values()]);
  await rows.tree.insertEdges([...model.edges.values()]);
}
