import { randomUUID } from "node:crypto";
import { type Path, parseSource, type Source } from "../../../config/source.ts";
import type { EdgeDraft, Node, ReferenceDocument, TestCaseInput } from "../../../domain/index.ts";
import { pathText, schemaProblems } from "../../../domain/schemaProblems.ts";
import { ToolError } from "../../../errors.ts";
import { namedSets, withSharedActions } from "../userinterfaces/editEdges.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { edgeProblems, nodeProblems, treeProblems } from "../userinterfaces/problems.ts";
import { maxCharacters, type YamlDocument, type YamlTree, yamlSchema } from "./yamlDocument.ts";

const shownProblems = 20;

/** `references` is undefined when the file says nothing of them. */
export type Imported = {
  model: AppModel;
  testcases: TestCaseInput[];
  references: ReferenceDocument[] | undefined;
};

/**
 * Reads a userinterface from YAML. Ids are those of `known` where a tree, node or edge has the same labels, so that
 * history survives; new ones elsewhere. Throws INVALID_INPUT that names every problem with its line.
 */
export function readYaml(text: string, known?: AppModel): Imported {
  if (text.length > maxCharacters) {
    const message = `The YAML has ${text.length} characters; at most ${maxCharacters} are read.`;
    throw new ToolError("INVALID_INPUT", message, "Split the app into several userinterfaces.");
  }
  const source = parseSource("yaml", text);
  const parsed = yamlSchema.safeParse(source.value);
  const problems = new Problems(source);
  if (source.problems.length > 0 || !parsed.success) {
    const found =
      source.problems.length > 0 || parsed.success ? [] : schemaProblems(parsed.error.issues, yamlSchema);
    for (const { path, message, key } of found) problems.add(path, message, key);
    throw problems.error();
  }
  const model = new Draft(parsed.data, known, problems).model();
  const { name, references } = parsed.data;
  for (const index of repeated(references ?? [])) {
    problems.add(["references", index], "there is another reference of this name and device model");
  }
  if (problems.lines.length > 0) throw problems.error();
  const testcases = parsed.data.testcases.map((one) => ({
    ...one,
    userinterface_name: one.userinterface_name ?? name,
  }));
  return { model, testcases, references };
}

/** Places of those that have the name and the device model of one before. */
function repeated(references: readonly ReferenceDocument[]): number[] {
  const keys = references.map(({ name, device_model }) => JSON.stringify([device_model, name]));
  return keys.flatMap((key, index) => (keys.indexOf(key) < index ? [index] : []));
}

class Problems {
  readonly lines: { line: number; path: string; message: string }[] = [];

  constructor(private readonly source: Source) {
    for (const { line, path, message } of source.problems)
      this.lines.push({ line: line ?? 1, path, message });
  }

  add(path: Path, message: string, key?: string): void {
    const { line } = this.source.problem(path, message, key);
    this.lines.push({ line: line ?? 1, path: pathText(path), message });
  }

  error(): ToolError {
    const shown = [...this.lines].sort((a, b) => a.line - b.line).slice(0, shownProblems);
    const text = shown.map(({ line, path, message }) => `line ${line}${path && ` ${path}`}: ${message}`);
    const more = this.lines.length - shown.length;
    return new ToolError(
      "INVALID_INPUT",
      `The YAML is not a userinterface: ${text.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`,
      "Nothing was imported. export_userinterface shows the form of one that exists.",
      { problems: shown },
    );
  }
}

/** The rows of a document, checked while they are made. */
class Draft {
  private readonly draft: AppModel;
  private readonly knownIds: ReadonlyMap<string, string>;
  private readonly used = new Map<string, number>();

  constructor(
    document: YamlDocument,
    known: AppModel | undefined,
    private readonly problems: Problems,
  ) {
    const { format_version: _, tree, testcases: __, references: ___, ...input } = document;
    this.knownIds = known ? idsByLabel(known) : new Map();
    const ui = {
      ...input,
      id: known?.ui.id ?? randomUUID(),
      root_tree_id: known?.ui.root_tree_id ?? randomUUID(),
    };
    this.draft = { ui, updated_at: "", trees: new Map(), nodes: new Map(), edges: new Map() };
    const root = { id: ui.root_tree_id, userinterface_id: ui.id, name: ui.name };
    this.draft.trees.set(root.id, root);
    this.addTree(tree, root.id, undefined, ["tree"]);
  }

  model(): AppModel {
    return this.draft;
  }

  private addTree(tree: YamlTree, treeId: string, parent: Node | undefined, path: Path): void {
    const byLabel = new Map<string, Node>();
    for (const [index, { subtree: _, ...input }] of tree.nodes.entries()) {
      const node: Node = { ...input, id: this.idOf("node", treeId, input.label), tree_id: treeId };
      this.add([...path, "nodes", index], nodeProblems(this.draft, node), () => {
        this.draft.nodes.set(node.id, node);
        byLabel.set(node.label, node);
      });
    }
    for (const [index, draft] of tree.edges.entries()) {
      this.addEdge(draft, treeId, byLabel, parent, [...path, "edges", index]);
    }
    for (const [index, { label, subtree }] of tree.nodes.entries()) {
      const node = byLabel.get(label);
      if (node && subtree) this.addSubtree(subtree, node, [...path, "nodes", index, "subtree"]);
    }
  }

  private addSubtree(subtree: YamlTree & { name?: string | undefined }, parent: Node, path: Path): void {
    const id = this.idOf("tree", parent.id, "");
    const name = subtree.name ?? parent.label;
    const tree = { id, userinterface_id: this.draft.ui.id, parent_node_id: parent.id, name };
    this.add(path, treeProblems(this.draft, tree), () => {
      this.draft.trees.set(id, tree);
      const node = { ...parent, subtree_id: id };
      this.draft.nodes.set(parent.id, node);
      this.addTree(subtree, id, node, path);
    });
  }

  private addEdge(
    draft: EdgeDraft,
    treeId: string,
    byLabel: ReadonlyMap<string, Node>,
    parent: Node | undefined,
    path: Path,
  ): void {
    const idOf = (label: string) =>
      (byLabel.get(label) ?? (parent?.label === label ? parent : undefined))?.id;
    const source = idOf(draft.source) ?? draft.source;
    const target = idOf(draft.target) ?? draft.target;
    const id = this.idOf("edge", treeId, `${source} ${target}`);
    const action_sets = namedSets(draft.action_sets);
    const edge = withSharedActions(this.draft, {
      ...draft,
      id,
      tree_id: treeId,
      source,
      target,
      action_sets,
    });
    this.add(path, edgeProblems(this.draft, edge), () => this.draft.edges.set(id, edge));
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
