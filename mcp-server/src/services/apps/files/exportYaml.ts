import { stringify } from "yaml";
import type { ActionSet, Edge, Node, ReferenceDocument, TestCaseInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { type AppModel, labelOf } from "../userinterfaces/model.ts";
import { formatVersion, maxCharacters } from "./yamlDocument.ts";

/** Keys that say what a thing is come first; the others follow in their alphabetical order. */
const firstKeys = [
  ...["format_version", "name", "label", "id", "type", "command", "source", "target", "from", "to", "on"],
  ...[
    "description",
    "models",
    "app",
    "variables",
    "test_id_attribute",
    "userinterface_name",
    "tags",
    "inputs",
  ],
  ...["action_type", "params", "nodes", "direction", "actions", "retry_actions", "failure_actions"],
  ...["verifications", "tree", "blocks", "edges", "subtree", "testcases"],
];
const rankOf = new Map(firstKeys.map((key, rank) => [key, rank]));

/** What a key is when the file does not name it, so that the file need not. */
const defaults: Readonly<Record<string, unknown>> = {
  action_sets: [],
  app: {},
  conditional: false,
  continue_on_fail: false,
  failure_actions: [],
  final_wait_ms: 0,
  inputs: [],
  negate: false,
  outputs: {},
  pass_condition: "all",
  position: { x: 0, y: 0 },
  priority: "p2",
  protected: false,
  retry_actions: [],
  sibling_shortcuts: false,
  tags: [],
  test_id_attribute: "data-testid",
  variables: {},
  verifications: [],
};
/** Below these keys everything is the user's own data, which is kept as it is. */
const ownData = new Set([
  ...["params", "values", "body", "headers", "default", "inputs", "outputs", "variables"],
  ...["for_each", "types"],
]);

/**
 * A userinterface as text for git: the same app gives the same text, whatever its ids and the order of its edits. Throws
 * INPUT_TOO_LARGE for one that could not be imported again.
 */
export function exportYaml(
  model: AppModel,
  testcases: readonly TestCaseInput[],
  references: readonly ReferenceDocument[],
): string {
  const { id: _, root_tree_id, ...ui } = model.ui;
  const document = {
    format_version: formatVersion,
    ...ui,
    tree: treeOf(model, root_tree_id),
    testcases: [...testcases].sort((a, b) => order(a.name, b.name)).map((one) => testcaseOf(one, ui.name)),
    references: references.length > 0 ? references : undefined,
  };
  const text = stringify(tidy(document), { lineWidth: 0, aliasDuplicateObjects: false });
  if (text.length > maxCharacters) throw tooLarge(text.length, references);
  return text;
}

function tooLarge(characters: number, references: readonly ReferenceDocument[]): ToolError {
  const sizes = references.flatMap((one) =>
    one.kind === "image" ? [{ reference: one.name, characters: one.png.length }] : [],
  );
  const largest = sizes.sort((a, b) => b.characters - a.characters).slice(0, 5);
  const named = largest.map((one) => `${one.reference} (${one.characters} characters)`).join(", ");
  return new ToolError(
    "INPUT_TOO_LARGE",
    `The file would have ${characters} characters; at most ${maxCharacters} can be imported again.`,
    named === "" ? "Split the app into several userinterfaces." : `Save smaller references for ${named}.`,
    { largest },
  );
}

function treeOf(model: AppModel, treeId: string): Record<string, unknown> {
  const nodes = [...model.nodes.values()].filter(({ tree_id }) => tree_id === treeId).sort(nodeOrder);
  const edges = [...model.edges.values()]
    .filter(({ tree_id }) => tree_id === treeId)
    .map((edge) => edgeOf(model, edge));
  return { nodes: nodes.map((node) => nodeOf(model, node)), edges: edges.sort(edgeOrder) };
}

function nodeOf(model: AppModel, node: Node): Record<string, unknown> {
  const { id: _, tree_id, screenshot, subtree_id, type, ...input } = node;
  const tree = model.trees.get(subtree_id ?? "");
  return {
    ...input,
    type: type === "screen" ? undefined : type,
    subtree: tree && { name: tree.name === node.label ? undefined : tree.name, ...treeOf(model, tree.id) },
  };
}

function edgeOf(model: AppModel, edge: Edge) {
  const { id: _, tree_id, action_sets, ...input } = edge;
  return {
    ...input,
    source: labelOf(model, edge.source),
    target: labelOf(model, edge.target),
    action_sets: action_sets.map(setOf),
  };
}

function setOf(set: ActionSet): Record<string, unknown> {
  const { id, direction, ...rest } = set;
  return {
    ...rest,
    id: id === direction ? undefined : id,
    direction: direction === "forward" ? undefined : direction,
  };
}

function testcaseOf(testcase: TestCaseInput, userinterface: string): Record<string, unknown> {
  const { userinterface_name, ...rest } = testcase;
  return userinterface_name === userinterface ? rest : { userinterface_name, ...rest };
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const nodeOrder = (a: Node, b: Node) =>
  Number(b.type === "entry") - Number(a.type === "entry") || order(a.label, b.label);

type NamedEdge = ReturnType<typeof edgeOf>;
const edgeOrder = (a: NamedEdge, b: NamedEdge) =>
  order(a.source, b.source) ||
  order(a.target, b.target) ||
  order(a.priority, b.priority) ||
  order(JSON.stringify(tidy(a)), JSON.stringify(tidy(b)));

/** Puts keys in a fixed order and leaves out what is undefined or a default; the user's own data stays whole. */
function tidy(value: unknown, isOwn = false): unknown {
  if (Array.isArray(value)) return value.map((item) => tidy(item, isOwn));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, item]) => item !== undefined && (isOwn || !isDefault(key, item)))
    .sort(([a], [b]) => (isOwn ? order(a, b) : rank(a) - rank(b) || order(a, b)));
  return Object.fromEntries(entries.map(([key, item]) => [key, tidy(item, isOwn || ownData.has(key))]));
}

const rank = (key: string) => rankOf.get(key) ?? firstKeys.length;

function isDefault(key: string, value: unknown): boolean {
  if (key === "params") return JSON.stringify(value) === "{}";
  return key in defaults && JSON.stringify(defaults[key]) === JSON.stringify(value);
}
