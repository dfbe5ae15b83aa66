import type {
  EdgeDraft,
  Node,
  NodeInput,
  Params,
  Source,
  StartWish,
  UserInterface,
  UserInterfaceInput,
} from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { UserInterfaceCounts } from "../../../storage/rows/userinterfaceRows.ts";
import type { EdgeName, EdgePatch } from "./editEdges.ts";
import type { NodePatch, Removed, Subtree } from "./editNodes.ts";
import type { AppModel } from "./model.ts";
import type { ModelListener, SourceKeeper } from "./models.ts";
import type { EdgeLine, EdgeView, NodeLine, NodeView } from "./views.ts";

/** What others may know of an app: its variables with `app` among them, and its nodes with what proves them. */
export type AppView = {
  id: string;
  name: string;
  /** The folder of its project; empty where it has none. */
  project: string;
  app?: UserInterface["app"];
  variables: Params;
  test_id_attribute?: string;
  nodes: readonly Pick<Node, "id" | "label" | "verifications" | "pass_condition">[];
  /** How runs of its test cases start. */
  start: StartWish;
};

/** An app to be stored: `make` gives it from the one of its name. Without a `source`, that of the one before. */
export type NewApp = {
  name: string;
  source?: Source | undefined;
  make(known: AppModel | undefined): AppModel;
};

export type UserInterfaceLine = Pick<UserInterfaceCounts, "id" | "name" | "models" | "nodes" | "edges"> & {
  project?: string;
};
export type PageRequest = { offset: number; max_tokens: number };
/** Nodes first, then edges, from `offset` on; `more` is how many of both are left. */
export type CompleteView = UserInterface & {
  trees: { id: string; name: string; below?: string }[];
  nodes: NodeLine[];
  edges: EdgeLine[];
  more: number;
};

/** Models of apps: their trees, nodes and edges. Names, ids and labels are taken alike; see `model.ts` for the errors. */
export type UserInterfaceService = {
  /** Throws ALREADY_EXISTS. */
  create(input: UserInterfaceInput): Promise<UserInterface>;
  /** By name, as many as fit. */
  list(maxTokens: number): Promise<{ userinterfaces: UserInterfaceLine[]; more: number }>;
  /** Throws USERINTERFACE_NOT_FOUND with the nearest names. */
  get(idOrName: string): Promise<UserInterface>;
  /** The whole app, shared with the cache: read it, never change it. */
  load(idOrName: string): Promise<AppModel>;
  /** As the transaction sees it. */
  loadWithin(tx: Database, idOrName: string): Promise<AppModel>;
  /** Within the caller's transaction, if one is given. */
  describe(idOrName: string, tx?: Database): Promise<AppView>;
  complete(idOrName: string, page: PageRequest): Promise<CompleteView>;
  /** Test cases stay: they run on other apps too. Throws CONFIRMATION_REQUIRED with what would go, PROTECTED for a file. */
  remove(idOrName: string, confirm: boolean): Promise<Removed>;
  /**
   * Stores whole apps, all or nothing; `storeWith` stores within the same transaction what belongs to them. Throws
   * ALREADY_EXISTS unless `replace`.
   */
  put(
    apps: readonly NewApp[],
    options: { replace: boolean; storeWith(tx: Database, models: readonly AppModel[]): Promise<void> },
  ): Promise<{ model: AppModel; replaced: boolean }[]>;
  createNode(idOrName: string, tree: string | undefined, input: NodeInput): Promise<Node>;
  getNode(idOrName: string, node: string): Promise<NodeView>;
  updateNode(idOrName: string, node: string, patch: NodePatch): Promise<Node>;
  deleteNode(idOrName: string, node: string, confirm: boolean): Promise<Removed>;
  setScreenshot(idOrName: string, node: string, uri: string): Promise<Node>;
  createSubtree(idOrName: string, node: string, name: string | undefined): Promise<Subtree>;
  listEdges(
    idOrName: string,
    node: string | undefined,
    page: PageRequest,
  ): Promise<{ edges: EdgeLine[]; more: number }>;
  createEdge(idOrName: string, draft: EdgeDraft): Promise<EdgeName>;
  getEdge(idOrName: string, edge: string): Promise<EdgeView>;
  updateEdge(idOrName: string, edge: string, patch: EdgePatch): Promise<EdgeName>;
  deleteEdge(idOrName: string, edge: string, confirm: boolean): Promise<{ edges: number }>;
  /** Says who writes files when what they hold was stored. */
  keepSources(keeper: SourceKeeper): void;
  /** Told after each edit was stored. */
  onChange(listener: ModelListener): void;
  /** The listener runs after an app was removed, before {@link remove} returns. */
  onRemove(listener: () => Promise<void>): void;
};
