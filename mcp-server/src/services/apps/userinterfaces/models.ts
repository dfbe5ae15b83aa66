import { nearest } from "@labwright/controllers";
import type { Edge, Source, UserInterface } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { treeRows } from "../../../storage/rows/treeRows.ts";
import { type UserInterfaceRow, userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { meantApp } from "../../records/project.ts";
import { applyChange, type Change, writeChange } from "./changes.ts";
import type { AppModel } from "./model.ts";

/** What a plan of an edit gives: the changes in the order they are made, and what the caller gets. */
export type Edit<Result> = { changes: readonly Change[]; result: Result };
/** Called with an app's id after an edit of it was stored. */
export type ModelListener = (userinterfaceId: string) => void;
/** Writes what a transaction stores into the file that it is of. */
export type SourceKeeper = (tx: Database, source: Source) => Promise<void>;

/** So many apps are kept in memory at once. */
const keptModels = 50;

/**
 * The apps in memory: loaded once, changed in place by the edits of this process, and loaded again when another process
 * changed them. Edits of one app run one after the other.
 */
export class Models {
  private readonly kept = new Map<string, AppModel>();
  /** The last edit of each app; none of them rejects. */
  private readonly queues = new Map<string, Promise<void>>();
  private readonly listeners: ModelListener[] = [];
  private keeper: SourceKeeper = async () => undefined;

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  onChange(listener: ModelListener): void {
    this.listeners.push(listener);
  }

  keepSources(keeper: SourceKeeper): void {
    this.keeper = keeper;
  }

  /** By id or name. Throws USERINTERFACE_NOT_FOUND with the nearest. */
  async getRow(idOrName: string, db = this.db): Promise<UserInterfaceRow> {
    const rows = userinterfaceRows(db);
    const row = meantApp(await rows.meant(idOrName), idOrName);
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
    if (known) this.tell(row.id);
    this.kept.delete(row.id);
    this.kept.set(row.id, model);
    for (const id of [...this.kept.keys()].slice(0, -keptModels)) this.kept.delete(id);
    return model;
  }

  /** As a transaction sees it; nothing of it is kept, since the transaction may not last. */
  async loadWithin(tx: Database, idOrName: string): Promise<AppModel> {
    return readModel(await this.getRow(idOrName, tx), tx);
  }

  /** Plans on the present state, stores the changes in one transaction, then makes them in memory. */
  async edit<Result>(idOrName: string, plan: (model: AppModel) => Edit<Result>): Promise<Result> {
    const { id: userinterfaceId } = await this.getRow(idOrName);
    return this.alone([userinterfaceId], async () => {
      const model = await this.load(userinterfaceId);
      const { changes, result } = plan(model);
      if (changes.length === 0) return result;
      const at = new Date(this.clock.now()).toISOString();
      const mark = await this.db.transaction(async (tx) => {
        for (const change of changes) await writeChange(tx, change);
        const stored = await userinterfaceRows(tx).touch(model.ui.id, at);
        await this.keep(tx, model.source);
        return stored;
      });
      for (const change of changes) applyChange(model, change);
      model.updated_at = mark;
      this.tell(model.ui.id);
      return result;
    });
  }

  /** Writes the file of what the transaction stored, where it has one. */
  async keep(tx: Database, source: Source): Promise<void> {
    if (source.file !== null) await this.keeper(tx, source);
  }

  /** Runs `work` when no other edit of these apps is under way. */
  alone<Result>(userinterfaceIds: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const result = Promise.all(userinterfaceIds.map((id) => this.queues.get(id))).then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    for (const id of userinterfaceIds) {
      this.queues.set(id, settled);
      void settled.then(() => {
        if (this.queues.get(id) === settled) this.queues.delete(id);
      });
    }
    return result;
  }

  /** Drops the copy in memory after something else changed the rows. */
  forget(userinterfaceId: string): void {
    this.kept.delete(userinterfaceId);
    this.tell(userinterfaceId);
  }

  private tell(userinterfaceId: string): void {
    for (const listener of this.listeners) listener(userinterfaceId);
  }
}

/** Without what says where it is kept. */
export function uiOf(row: UserInterfaceRow): UserInterface {
  const {
    created_at: _c,
    updated_at: _u,
    archived_at: _a,
    project: _p,
    file: _f,
    file_hash: _h,
    ...ui
  } = row;
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
  const nameOf = ({ source, target }: Edge) => `${labels.get(source) ?? ""} → ${labels.get(target) ?? ""}`;
  return {
    ui: uiOf(row),
    source: { project, file, file_hash },
    updated_at,
    trees: byId(trees, ({ name }) => name),
    nodes: byId(nodes, ({ label }) => label),
    edges: byId(edges, nameOf),
  };
}

/** In the order of their names, which is the same whatever the database's collation; the id decides between equal names. */
function byId<Row extends { id: string }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): Map<string, Row> {
  const named = rows.map((row) => ({ row, name: `${nameOf(row)}\n${row.id}` }));
  named.sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(named.map(({ row }) => [row.id, row]));
}
