import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { isFeature } from "../../../config/places.ts";
import { databaseOnly, type Node, type ReferenceDocument } from "../../../domain/index.ts";
import { type Fields, isFields, noNames, type Path, type Verbs } from "../steps/index.ts";
import { namedSets, withSharedActions } from "../userinterfaces/edits.ts";
import type { NewApp } from "../userinterfaces/index.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { edgeProblems, nodeProblems, treeProblems } from "../userinterfaces/problems.ts";
import type { Problems } from "./problems.ts";
import { type DraftTree, readTree } from "./readTree.ts";
import { type AppFile, appFileSchema, testsFileSchema } from "./yamlDocument.ts";

/** What a file holds. Its tests are as they are written, each naming its app. */
export type FileRead = {
  kind: "app" | "tests" | "test";
  app?: string | undefined;
  model: AppModel | undefined;
  tests: { value: unknown; path: Path }[];
  /** Undefined if the file says nothing of them. */
  references: ReferenceDocument[] | undefined;
  /** Where each node of the model is written, by its id. */
  nodePlaces: ReadonlyMap<string, Path>;
  problems: Problems;
};

export type Reading = {
  verbs: Verbs;
  /** For errors, and to name a single test that has no name. */
  file?: string | undefined;
  known?: AppModel | undefined;
  /** Of `problemsIn`. */
  problems: Problems;
};

const withoutApp = { model: undefined, references: undefined, nodePlaces: new Map<string, Path>() };

/** Ids are those of `known` for the same labels, so that history survives. Throws INVALID_INPUT with every problem and its place. */
export function readYaml({ verbs, file, known, problems }: Reading): FileRead {
  problems.check();
  const { value } = problems;
  if (isFields(value) && ("steps" in value || "blocks" in value)) {
    const name = file === undefined ? {} : { name: basename(file).replace(/\.ya?ml$/i, "") };
    return { ...withoutApp, kind: "test", tests: [{ value: { ...name, ...value }, path: [] }], problems };
  }
  return isFields(value) && !("name" in value) && ("tests" in value || "testcases" in value)
    ? readTests(value, problems)
    : readApp(value, { verbs, known }, problems);
}

/** An app from a file, to be stored. It takes the ids of the stored app with the same labels. */
export const newApp = (model: AppModel, reading: Reading): NewApp => ({
  name: model.ui.name,
  make: (known) =>
    (known && readYaml({ ...reading, known, problems: reading.problems.again() }).model) ?? model,
});

function readTests(value: Fields, problems: Problems): FileRead {
  const file = problems.parsed(testsFileSchema, value);
  if (!file) throw problems.error();
  return { ...withoutApp, kind: "tests", app: file.app, tests: testsOf(file, file.app), problems };
}

function readApp(
  value: unknown,
  { verbs, known }: Pick<Reading, "verbs" | "known">,
  problems: Problems,
): FileRead {
  const file = problems.parsed(appFileSchema, value);
  if (!file) throw problems.error();
  // Nothing in an app's model names its nodes or its tests in words.
  const tree = readTree(file, { vocabulary: noNames, verbs }, problems);
  const { model, nodePlaces } = new Draft(file, tree, known, problems);
  for (const index of repeated(file.references ?? []))
    problems.add(["references", index], "there is another reference of this name and device model");
  problems.check();
  const tests = testsOf(file, file.name);
  return { kind: "app", model, tests, references: file.references, nodePlaces, problems };
}

/**
 * Gives features that name no app the only one of their project: of those that are `read`, and of `others`. Several are a
 * problem of the feature.
 */
export function giveOnlyApp(read: readonly (FileRead & { file: string })[], others: readonly string[]): void {
  const apps = [...new Set([...read.flatMap(({ model }) => model?.ui.name ?? []), ...others])];
  for (const { file, app, tests, problems } of read) {
    if (!isFeature(file) || app !== undefined || apps.length === 0) continue;
    const [only = "", ...more] = apps;
    const line = `# app: ${only}`;
    if (more.length > 0)
      problems.add([], `the project has several apps; say which one in a line above the Feature: ${line}`);
    for (const test of tests) test.value = { ...Object(test.value), userinterface_name: only };
  }
}

type Tests = Pick<AppFile, "tests" | "testcases">;

function testsOf(file: Tests, app: string | undefined): FileRead["tests"] {
  return (["tests", "testcases"] as const).flatMap((key) =>
    (file[key] ?? []).map((value, index) => {
      const isNamed = app === undefined || "app" in value || "userinterface_name" in value;
      return { value: isNamed ? value : { ...value, userinterface_name: app }, path: [key, index] };
    }),
  );
}

/** Indices of references with the name and device model of an earlier one. */
function repeated(references: readonly ReferenceDocument[]): number[] {
  const keys = references.map(({ name, device_model }) => JSON.stringify([device_model, name]));
  return keys.flatMap((key, index) => (keys.indexOf(key) < index ? [index] : []));
}

/** The rows of a file, checked while they are made. */
class Draft {
  readonly model: AppModel;
  readonly nodePlaces = new Map<string, Path>();
  private readonly knownIds: ReadonlyMap<string, string>;
  private readonly used = new Map<string, number>();

  constructor(
    file: AppFile,
    tree: DraftTree,
    known: AppModel | undefined,
    private readonly problems: Problems,
  ) {
    const { name, models, app, variables, test_id_attribute } = file;
    this.knownIds = known ? idsByLabel(known) : new Map();
    const ui = {
      ...{ name, models, app, variables, test_id_attribute },
      id: known?.ui.id ?? randomUUID(),
      root_tree_id: known?.ui.root_tree_id ?? randomUUID(),
    };
    const empty = { trees: new Map(), nodes: new Map(), edges: new Map() };
    this.model = { ui, source: databaseOnly, updated_at: "", ...empty };
    const root = { id: ui.root_tree_id, userinterface_id: ui.id, name: ui.name };
    this.model.trees.set(root.id, root);
    this.addTree(tree, root.id, undefined);
  }

  private addTree(tree: DraftTree, treeId: string, parent: Node | undefined): void {
    const byLabel = new Map<string, Node>();
    for (const { at, input } of tree.nodes) {
      const node: Node = { ...input, id: this.idOf("node", treeId, input.label), tree_id: treeId };
      this.add(at, nodeProblems(this.model, node), () => {
        this.model.nodes.set(node.id, node);
        this.nodePlaces.set(node.id, at);
        byLabel.set(node.label, node);
      });
    }
    for (const edge of tree.edges) this.addEdge(edge, treeId, byLabel, parent);
    for (const { input, subtree } of tree.nodes) {
      const node = byLabel.get(input.label);
      if (node && subtree) this.addSubtree(subtree, node);
    }
  }

  private addSubtree(subtree: NonNullable<DraftTree["nodes"][number]["subtree"]>, parent: Node): void {
    const id = this.idOf("tree", parent.id, "");
    const name = subtree.name ?? parent.label;
    const tree = { id, userinterface_id: this.model.ui.id, parent_node_id: parent.id, name };
    this.add(subtree.at, treeProblems(this.model, tree), () => {
      this.model.trees.set(id, tree);
      const node = { ...parent, subtree_id: id };
      this.model.nodes.set(parent.id, node);
      this.addTree(subtree, id, node);
    });
  }

  private addEdge(
    { at, draft }: DraftTree["edges"][number],
    treeId: string,
    byLabel: ReadonlyMap<string, Node>,
    parent: Node | undefined,
  ): void {
    const idOf = (label: string) =>
      (byLabel.get(label) ?? (parent?.label === label ? parent : undefined))?.id;
    const source = idOf(draft.source) ?? draft.source;
    const target = idOf(draft.target) ?? draft.target;
    const id = this.idOf("edge", treeId, `${source} ${target}`);
    const action_sets = namedSets(draft.action_sets);
    const edge = withSharedActions(this.model, {
      ...draft,
      id,
      tree_id: treeId,
      source,
      target,
      action_sets,
    });
    this.add(at, edgeProblems(this.model, edge), () => this.model.edges.set(id, edge));
  }

  private add(path: Path, problems: readonly string[], then: () => void): void {
    for (const problem of problems) this.problems.add(path, problem);
    if (problems.length === 0) then();
  }

  /** The id of the same thing in the replaced app. Parallel edges differ by their order. */
  private idOf(kind: string, place: string, label: string): string {
    const key = `${kind} ${place} ${label}`;
    const nth = this.used.get(key) ?? 0;
    this.used.set(key, nth + 1);
    return this.knownIds.get(`${key} ${nth}`) ?? randomUUID();
  }
}

function idsByLabel(model: AppModel): Map<string, string> {
  const ids = new Map<string, string>();
  const put = (key: string, id: string) => {
    let nth = 0;
    while (ids.has(`${key} ${nth}`)) nth++;
    ids.set(`${key} ${nth}`, id);
  };
  for (const node of model.nodes.values()) put(`node ${node.tree_id} ${node.label}`, node.id);
  for (const edge of model.edges.values()) put(`edge ${edge.tree_id} ${edge.source} ${edge.target}`, edge.id);
  for (const { id, parent_node_id } of model.trees.values()) put(`tree ${parent_node_id ?? ""} `, id);
  return ids;
}
