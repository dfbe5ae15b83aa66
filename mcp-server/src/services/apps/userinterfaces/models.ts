import { nearest } from "@labwright/controllers";
import type { Edge, Node, Source, Tree, UserInterface } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { navigationRows } from "../../../storage/rows/navigationRows.ts";
import { positionRows } from "../../../storage/rows/positionRows.ts";
import { treeRows } from "../../../storage/rows/treeRows.ts";
import { type UserInterfaceRow, userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { appNamed } from "../../records/inUse.ts";
import type { AppModel } from "./model.ts";

export type Change =
  | { kind: "addTree"; tree: Tree }
  | { kind: "addNode" | "changeNode"; node: Node }
  | { kind: "addEdge" | "changeEdge"; edge: Edge }
  | { kind: "remove"; trees: readonly string[]; nodes: readonly string[]; edges: readonly string[] };

/** A planned edit: its changes in order, and the caller's result. */
export type Edit<Result> = { changes: readonly Change[]; result: Result };
/** Writes what a transaction stored into its file. */
export type SourceKeeper = (tx: Database, source: Source) => Promise<void>;

/** Apps in memory. */
const keptModels = 50;

/** Keeps the last apps in memory until their rows change, and stores edits one after the other. */
export class Models {
  private readonly kept = new Map<string, AppModel>();
  private lastEdit: Promise<unknown> = Promise.resolve();
  private keeper: SourceKeeper = async () => undefined;

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  keepSources(keeper: SourceKeeper): void {
    this.keeper = keeper;
  }

  /** By id or name. Throws USERINTERFACE_NOT_FOUND with the nearest. */
  async getRow(idOrName: string, db = this.db): Promise<UserInterfaceRow> {
    const rows = userinterfaceRows(db);
    const row = appNamed(await rows.named(idOrName), idOrName);
    if (row) return row;
    const near = nearest(idOrName, await rows.names());
    throw new ToolError(
      "USERINTERFACE_NOT_FOUND",
      `There is no userinterface "${idOrName}".`,
      near.length > 0
        ? `Did you mean ${near.join(", ")}? list_userinterfaces shows all.`
        : "list_userinterfaces shows all; create_userinterface or import_userinterface makes one.",
      { nearest: near },
    );
  }

  async load(idOrName: string): Promise<AppModel> {
    const row = await this.getRow(idOrName);
    const known = this.kept.get(row.id);
    if (known?.updated_at === row.updated_at) return known;
    const model = await readModel(row, this.db);
    this.kept.delete(row.id);
    this.kept.set(row.id, model);
    for (const id of [...this.kept.keys()].slice(0, -keptModels)) this.kept.delete(id);
    return model;
  }

  /** As a transaction sees it. Not kept, since the transaction may be rolled back. */
  async loadWithin(tx: Database, idOrName: string): Promise<AppModel> {
    return readModel(await this.getRow(idOrName, tx), tx);
  }

  /** Plans on the present state and stores the changes in one transaction. */
  edit<Result>(idOrName: string, plan: (model: AppModel) => Edit<Result>): Promise<Result> {
    return this.alone(async () => {
      const model = await this.load(idOrName);
      const { changes, result } = plan(model);
      const at = new Date(this.clock.now()).toISOString();
      await this.db.transaction(async (tx) => {
        for (const change of changes) await writeChange(tx, change);
        await userinterfaceRows(tx).touch(model.ui.id, at);
        await this.keep(tx, model.source);
      });
      return result;
    });
  }

  async keep(tx: Database, source: Source): Promise<void> {
    if (source.file !== null) await this.keeper(tx, source);
  }

  /** Runs `work` after all earlier edits. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.lastEdit.then(work);
    this.lastEdit = result.catch(() => undefined);
    return result;
  }
}

async function writeChange(tx: Database, change: Change): Promise<void> {
  const rows = treeRows(tx);
  switch (change.kind) {
    case "addTree":
      return rows.insertTrees([change.tree]);
    case "addNode":
      return rows.insertNodes([change.node]);
    case "changeNode":
      return rows.updateNode(change.node);
    case "addEdge":
      return rows.insertEdges([change.edge]);
    case "changeEdge":
      return rows.updateEdge(change.edge);
    case "remove":
      await rows.removeEdges(change.edges);
      await rows.removeNodes(change.nodes);
      await rows.removeTrees(change.trees);
      await positionRows(tx).leaveNodes(change.nodes);
      return navigationRows(tx).forget([...change.nodes, ...change.edges]);
  }
}

/** Without the columns that say where and when it is kept. */
export function uiOf(row: UserInterfaceRow): UserInterface {
  const { created_at, updated_at, archived_at, project, file, file_hash, ...ui } = row;
  return ui;
}

async function readModel(row: UserInterfaceRow, db: Database): Promise<AppModel> {
  const { updated_at, project, file, file_hash } = row;
  const rows = treeRows(db);
  const [trees, nodes, edges] = await Promise.all([
    rows.listTrees(row.id),
    rows.listNodes(row.id),
    rows.listEdges(row.id),
  ]);
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const treeNames = new Map(trees.map(({ id, name }) => [id, name]));
  const nameOf = ({ source, target }: Edge) => `${labels.get(source) ?? ""} → ${labels.get(target) ?? ""}`;
  return {
    ui: uiOf(row),
    source: { project, file, file_hash },
    updated_at,
    trees: byId(trees, ({ name }) => name),
    nodes: byId(nodes, ({ label, tree_id }) => `${label}\n${treeNames.get(tree_id) ?? ""}`),
    edges: byId(edges, nameOf),
  };
}

/** Sorted here by name, then id, so that the order does not depend on the database's collation. */
function byId<Row extends { id: string }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): Map<string, Row> {
  const named = rows.map((row) => ({ row, name: `${nameOf(row)}\n${row.id}` }));
  named.sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(named.map(({ row }) => [row.id, row]));
}
