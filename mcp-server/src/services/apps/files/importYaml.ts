import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { databaseOnly, type Node, type ReferenceDocument } from "../../../domain/index.ts";
import { schemaProblems } from "../../../domain/schemaProblems.ts";
import { ToolError } from "../../../errors.ts";
import { type Fields, isFields, type Language, type Path, type Verbs } from "../steps/index.ts";
import { namedSets, withSharedActions } from "../userinterfaces/editEdges.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { edgeProblems, nodeProblems, treeProblems } from "../userinterfaces/problems.ts";
import type { NewApp } from "../userinterfaces/types.ts";
import { Problems } from "./problems.ts";
import { type DraftTree, readTree } from "./readTree.ts";
import { type AppFile, appFileSchema, maxCharacters, testsFileSchema } from "./yamlDocument.ts";

/** What a file holds. Its tests are as they are written, in either form, each naming its app. */
export type FileRead = {
  /** An app, tests alone, or one test alone. */
  kind: "app" | "tests" | "test";
  /** The app that a file of tests names. */
  app?: string | undefined;
  /** Undefined for a file of tests alone. */
  model: AppModel | undefined;
  tests: { value: unknown; path: Path }[];
  /** Undefined when the file says nothing of them. */
  references: ReferenceDocument[] | undefined;
  /** Where the nodes of the model are written, by their ids. */
  nodePlaces: ReadonlyMap<string, Path>;
  /** Adds what is found wrong later, with its line. */
  problems: Problems;
};

export type Reading = {
  verbs: Verbs;
  /** The file's name: in errors, and a single test without a name is called after it. */
  file?: string | undefined;
  /** The app that is replaced. */
  known?: AppModel | undefined;
  /** Of this text and file, where the caller needs all of them after a refusal. */
  problems?: Problems;
};

/**
 * Reads an app or tests from YAML. Ids are those of `known` where a tree, node or edge has the same labels, so that
 * history survives; new ones elsewhere. Throws INVALID_INPUT that names every problem with its line and column.
 */
export function readYaml(
  text: string,
  { verbs, file, known, problems = new Problems(text, file) }: Reading,
): FileRead {
  if (text.length > maxCharacters) {
    const message = `The YAML has ${text.length} characters; at most ${maxCharacters} are read.`;
    throw new ToolError("INVALID_INPUT", message, "Split the app into several userinterfaces.");
  }
  problems.check();
  const { value } = problems;
  if (isFields(value) && ("steps" in value || "blocks" in value)) {
    const name = file === undefined ? {} : { name: basename(file).replace(/\.ya?ml$/i, "") };
    const path: Path = [];
    return {
      kind: "test",
      model: undefined,
      tests: [{ value: { ...name, ...value }, path }],
      references: undefined,
      nodePlaces: new Map(),
      problems,
    };
  }
  return isFields(value) && !("name" in value) && ("tests" in value || "testcases" in value)
    ? readTests(value, problems)
    : readApp(value, { verbs, known }, problems);
}

/** The app of a text that was read, to be stored: what has the labels of what is there takes its ids. */
export const newApp = (model: AppModel, text: string, reading: Reading): NewApp => ({
  name: model.ui.name,
  make: (known) => (known && readYaml(text, { ...reading, known }).model) ?? model,
});

function readTests(value: Fields, problems: Problems): FileRead {
  const parsed = testsFileSchema.safeParse(value);
  if (!parsed.success) addAll(problems, schemaProblems(parsed.error.issues, testsFileSchema));
  problems.check();
  const app = parsed.data?.app;
  const tests = parsed.success ? testsOf(parsed.data, app) : [];
  return {
    kind: "tests",
    app,
    model: undefined,
    tests,
    references: undefined,
    nodePlaces: new Map(),
    problems,
  };
}

function readApp(
  value: unknown,
  { verbs, known }: Pick<Reading, "verbs" | "known">,
  problems: Problems,
): FileRead {
  const parsed = appFileSchema.safeParse(value);
  if (!parsed.success) addAll(problems, schemaProblems(parsed.error.issues, appFileSchema));
  if (!parsed.success) throw problems.error("INVALID_INPUT");
  const file = parsed.data;
  // Nothing in an app's model names its nodes or its tests in words.
  const vocabulary = { places: [], testcases: [], commands: undefined, checks: undefined };
  const language: Language = { vocabulary, verbs };
  const { model, nodePlaces } = new Draft(file, readTree(file, language, problems), known, problems);
  for (const index of repeated(file.references ?? []))
    problems.add(["references", index], "there is another reference of this name and device model");
  problems.check();
  const tests = testsOf(file, file.name);
  return { kind: "app", model, tests, references: file.references, nodePlaces, problems };
}

type Tests = Pick<AppFile, "tests" | "testcases">;

/** The tests of a file, each naming the app of the file unless it names one itself. */
function testsOf(file: Tests, app: string | undefined): FileRead["tests"] {
  return (["tests", "testcases"] as const).flatMap((key) =>
    (file[key] ?? []).map((value, index) => {
      const isNamed = app === undefined || "app" in value || "userinterface_name" in value;
      return { value: isNamed ? value : { ...value, userinterface_name: app }, path: [key, index] };
    }),
  );
}

function addAll(problems: Problems, found: readonly { path: Path; message: string; key?: string }[]): void {
  for (const { path, message, key } of found) problems.add(path, message, key);
}
/** Places of those that have the name and the device model of one before. */
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

  /** The id of the same thing in the app that is replaced; parallel edges are told apart by their order. */
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
