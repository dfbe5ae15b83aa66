import { randomUUID } from "node:crypto";
import { databaseOnly } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { navigationRows } from "../../../storage/rows/navigationRows.ts";
import { positionRows } from "../../../storage/rows/positionRows.ts";
import { treeRows } from "../../../storage/rows/treeRows.ts";
import { type UserInterfaceRow, userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { projectInUse } from "../../records/project.ts";
import { pageOf } from "../../values/pages.ts";
import { planEdgeChange, planEdgeRemoval, planNewEdge } from "./editEdges.ts";
import {
  confirmation,
  planNewNode,
  planNodeChange,
  planNodeRemoval,
  planScreenshot,
  planSubtree,
} from "./editNodes.ts";
import { type AppModel, getEdge, getNode, variablesOf } from "./model.ts";
import { Models, uiOf } from "./models.ts";
import type { AppView, NewApp, UserInterfaceService } from "./types.ts";
import { edgeLine, edgeView, nodeLine, nodeView } from "./views.ts";

export type * from "./types.ts";

export type UserInterfaceDependencies = { db: Database; clock: Clock };

/** The models of apps, kept in the database and in memory. */
export function createUserInterfaces({ db, clock }: UserInterfaceDependencies): UserInterfaceService {
  const models = new Models(db, clock);
  const removeListeners: (() => Promise<void>)[] = [];
  const now = () => new Date(clock.now()).toISOString();
  return {
    ...editing(models),
    ...reading(db, models),
    async create(input) {
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
    async remove(idOrName, confirm) {
      const model = await models.load(idOrName);
      const removed = { nodes: model.nodes.size, edges: model.edges.size, trees: model.trees.size };
      const labels = [...model.nodes.values()].slice(0, 20).map(({ label }) => label);
      refuseFile(model);
      if (!confirm) throw confirmation(`userinterface "${model.ui.name}"`, removed, { nodes: labels });
      await db.transaction(async (tx) => {
        await forgetApp(tx, model);
        await userinterfaceRows(tx).remove(model.ui.id);
      });
      models.forget(model.ui.id);
      for (const listener of removeListeners) await listener();
      return removed;
    },
    async put(apps, { replace, storeWith }) {
      const rows = await Promise.all(apps.map((app) => rowFor(db, app)));
      const present = rows.find((row) => row && row.archived_at === null);
      if (present && !replace) throw taken(present.name, "Pass replace: true to put this one in its place.");
      const storeApp = async (tx: Database, { make, source }: NewApp, row: UserInterfaceRow | undefined) => {
        const known = row && (await models.loadWithin(tx, row.id));
        const model = { ...make(known), source: source ?? known?.source ?? databaseOnly };
        await storeModel(tx, model, known, row?.created_at ?? now(), now());
        return model;
      };
      const storeAll = async (tx: Database) => {
        const stored: AppModel[] = [];
        for (const [index, app] of apps.entries()) stored.push(await storeApp(tx, app, rows[index]));
        await storeWith(tx, stored);
        // What was loaded from a file is in it already.
        const written = stored.filter((_, index) => apps[index]?.source === undefined);
        for (const { source } of written) await models.keep(tx, source);
        return stored;
      };
      const store = async () => {
        const stored = await db.transaction(storeAll);
        for (const { ui } of stored) models.forget(ui.id);
        return stored.map((model, index) => ({ model, replaced: rows[index] !== undefined }));
      };
      return models.alone(
        rows.flatMap((row) => row?.id ?? []),
        store,
      );
    },
    keepSources: (keeper) => models.keepSources(keeper),
    onChange: (listener) => models.onChange(listener),
    onRemove: (listener) => void removeListeners.push(listener),
  };
}

function editing(models: Models) {
  return {
    createNode: (ui, tree, input) => models.edit(ui, (model) => planNewNode(model, tree, input)),
    updateNode: (ui, node, patch) => models.edit(ui, (model) => planNodeChange(model, node, patch)),
    deleteNode: (ui, node, confirm) => models.edit(ui, (model) => planNodeRemoval(model, node, confirm)),
    setScreenshot: (ui, node, uri) => models.edit(ui, (model) => planScreenshot(model, node, uri)),
    createSubtree: (ui, node, name) => models.edit(ui, (model) => planSubtree(model, node, name)),
    createEdge: (ui, draft) => models.edit(ui, (model) => planNewEdge(model, draft)),
    updateEdge: (ui, edge, patch) => models.edit(ui, (model) => planEdgeChange(model, edge, patch)),
    deleteEdge: (ui, edge, confirm) => models.edit(ui, (model) => planEdgeRemoval(model, edge, confirm)),
  } satisfies Partial<UserInterfaceService>;
}

function reading(db: Database, models: Models) {
  return {
    async list(maxTokens) {
      const rows = await userinterfaceRows(db).list();
      const lines = rows.map(({ id, name, project, models: runsOn, nodes, edges }) => ({
        id,
        name,
        ...(project !== "" && { project }),
        models: runsOn,
        nodes,
        edges,
      }));
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { userinterfaces: items, more };
    },
    async get(idOrName) {
      return uiOf(await models.getRow(idOrName));
    },
    load: (idOrName) => models.load(idOrName),
    loadWithin: (tx, idOrName) => models.loadWithin(tx, idOrName),
    describe: async (idOrName, tx) =>
      appView(await (tx ? models.loadWithin(tx, idOrName) : models.load(idOrName))),
    async complete(idOrName, { offset, max_tokens }) {
      const model = await models.load(idOrName);
      const lines = [
        ...[...model.nodes.values()].map((node) => nodeLine(model, node)),
        ...[...model.edges.values()].map((edge) => edgeLine(model, edge)),
      ];
      const { items, more } = pageOf(lines, offset, max_tokens);
      return {
        ...model.ui,
        trees: [...model.trees.values()].map(({ id, name, parent_node_id }) => ({
          id,
          name,
          ...(parent_node_id && { below: model.nodes.get(parent_node_id)?.label ?? parent_node_id }),
        })),
        nodes: items.filter((line) => "label" in line),
        edges: items.filter((line) => "edge" in line),
        more,
      };
    },
    async getNode(idOrName, node) {
      const model = await models.load(idOrName);
      const found = getNode(model, node);
      return nodeView(model, found, await navigationRows(db).summaryOf("node", found.id));
    },
    async getEdge(idOrName, edge) {
      const model = await models.load(idOrName);
      const found = getEdge(model, edge);
      return edgeView(model, found, await navigationRows(db).summaryOf("edge", found.id));
    },
    async listEdges(idOrName, node, { offset, max_tokens }) {
      const model = await models.load(idOrName);
      const end = node === undefined ? undefined : getNode(model, node).id;
      const edges = [...model.edges.values()].filter(
        ({ source, target }) => end === undefined || source === end || target === end,
      );
      const page = pageOf(
        edges.map((edge) => edgeLine(model, edge)),
        offset,
        max_tokens,
      );
      return { edges: page.items, more: page.more };
    },
  } satisfies Partial<UserInterfaceService>;
}

export function appView({ ui, source, nodes }: AppModel): AppView {
  return {
    id: ui.id,
    name: ui.name,
    project: source.project,
    app: ui.app,
    variables: variablesOf(ui),
    test_id_attribute: ui.test_id_attribute,
    nodes: [...nodes.values()].map(({ id, label, verifications, pass_condition }) => ({
      ...{ id, label, verifications, pass_condition },
    })),
    start: { fresh: ui.app.fresh, storage_state: ui.app.storage_state, setup: ui.app.setup },
  };
}

/** What a name is in the project in use, else of the database's own. */
async function ownRow(db: Database, name: string): Promise<UserInterfaceRow | undefined> {
  const rows = userinterfaceRows(db);
  return (await rows.findIn(projectInUse(), name)) ?? rows.findIn("", name);
}

const rowFor = (db: Database, { name, source }: NewApp) =>
  source ? userinterfaceRows(db).findIn(source.project, name) : ownRow(db, name);

/** A file that its author wrote is not deleted by a tool. */
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

async function forgetApp(tx: Database, model: AppModel): Promise<void> {
  await navigationRows(tx).forget([...model.nodes.keys(), ...model.edges.keys()]);
  await positionRows(tx).forgetApp(model.ui.id);
}

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
