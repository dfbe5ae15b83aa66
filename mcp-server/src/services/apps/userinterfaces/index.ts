import { randomUUID } from "node:crypto";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/database.ts";
import { navigationRows } from "../../../storage/navigationRows.ts";
import { positionRows } from "../../../storage/positionRows.ts";
import { treeRows } from "../../../storage/treeRows.ts";
import { userinterfaceRows } from "../../../storage/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
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
import { Models } from "./models.ts";
import type { AppView, UserInterfaceService } from "./types.ts";
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
      await refuseTaken(db, input.name);
      const ui = { id: randomUUID(), root_tree_id: randomUUID(), ...input };
      const at = now();
      await db.transaction(async (tx) => {
        await userinterfaceRows(tx).insert({ ...ui, created_at: at, updated_at: at });
        await treeRows(tx).insertTrees([{ id: ui.root_tree_id, userinterface_id: ui.id, name: ui.name }]);
      });
      return ui;
    },
    async remove(idOrName, confirm) {
      const model = await models.load(idOrName);
      const removed = { nodes: model.nodes.size, edges: model.edges.size, trees: model.trees.size };
      const labels = [...model.nodes.values()].slice(0, 20).map(({ label }) => label);
      if (!confirm) throw confirmation(`userinterface "${model.ui.name}"`, removed, { nodes: labels });
      await db.transaction(async (tx) => {
        await forgetApp(tx, model);
        await userinterfaceRows(tx).remove(model.ui.id);
      });
      models.forget(model.ui.id);
      for (const listener of removeListeners) await listener();
      return removed;
    },
    async put(name, { replace, make, storeWith }) {
      const row = await userinterfaceRows(db).find(name);
      if (row && !replace) throw taken(name, "Pass replace: true to put this one in its place.");
      const store = async () => {
        const known = row && (await models.load(row.id));
        const model = make(known);
        await db.transaction(async (tx) => {
          await storeModel(tx, model, known, row?.created_at ?? now(), now());
          await storeWith(tx, model, appView(model));
        });
        models.forget(model.ui.id);
        return { model, replaced: row !== undefined };
      };
      return row ? models.alone(row.id, store) : store();
    },
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
      const lines = rows.map(({ id, name, models: runsOn, nodes, edges }) => ({
        id,
        name,
        models: runsOn,
        nodes,
        edges,
      }));
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { userinterfaces: items, more };
    },
    async get(idOrName) {
      const { created_at: _, updated_at: __, ...ui } = await models.getRow(idOrName);
      return ui;
    },
    load: (idOrName) => models.load(idOrName),
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

export function appView({ ui, nodes }: AppModel): AppView {
  return {
    name: ui.name,
    app: ui.app,
    variables: variablesOf(ui),
    test_id_attribute: ui.test_id_attribute,
    nodes: [...nodes.values()].map(({ id, label, verifications, pass_condition }) => ({
      ...{ id, label, verifications, pass_condition },
    })),
    start: { fresh: ui.app.fresh, storage_state: ui.app.storage_state, setup: ui.app.setup },
  };
}

async function refuseTaken(db: Database, name: string): Promise<void> {
  if (await userinterfaceRows(db).find(name)) throw taken(name, "Choose another name, or edit that one.");
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
  const row = { ...model.ui, created_at: createdAt, updated_at: at };
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
