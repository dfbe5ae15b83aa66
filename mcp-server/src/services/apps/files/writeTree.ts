import { isDeepStrictEqual } from "node:util";
import type { Action, ActionSet, Edge, Node, Verification } from "../../../domain/index.ts";
import {
  type Fields,
  type Language,
  noNames,
  type Verbs,
  writeActions,
  writeChecks,
} from "../steps/index.ts";
import { type AppModel, labelOf } from "../userinterfaces/model.ts";
import { order, sortedData, sortedStep } from "./layOut.ts";
import { arrow, impliedStart } from "./yamlDocument.ts";

/** The nodes and edges of an app in the short form, without an entry that is implied. */
export function writeTree(model: AppModel, verbs: Verbs): Fields {
  return new TreeWriter(model, { vocabulary: noNames, verbs }).root();
}

class TreeWriter {
  constructor(
    private readonly model: AppModel,
    private readonly language: Language,
  ) {}

  root(): Fields {
    const { root_tree_id } = this.model.ui;
    const nodes = this.nodesOf(root_tree_id);
    const edges = this.edgesOf(root_tree_id);
    const entry = nodes.find(({ type }) => type === "entry");
    if (!entry) return { ...(nodes.length > 0 && { entry: false }), ...this.written(nodes, edges) };
    const implied = this.impliedBy(entry, edges);
    if (!implied) return this.written(nodes, edges);
    const first = nodes.filter(({ id }) => id === implied.target);
    const others = nodes.filter((node) => node !== entry && !first.includes(node));
    const rest = this.written(
      [...first, ...others],
      edges.filter((edge) => edge !== implied),
    );
    const [top] = Object.keys(rest.nodes ?? {});
    return top === first[0]?.label ? rest : this.written(nodes, edges);
  }

  /** The edge of an entry that the file need not name; undefined if the entry says anything of its own. */
  private impliedBy(entry: Node, edges: readonly Edge[]): Edge | undefined {
    const [edge, ...others] = edges.filter(({ source, target }) => [source, target].includes(entry.id));
    const [set, ...more] = edge?.action_sets ?? [];
    if (!edge || !set || others.length + more.length > 0 || edge.source !== entry.id) return undefined;
    const { label, actions } = impliedStart;
    const opening = { steps: [{ open_app: actions[0].params }] };
    const opens = set.id === "forward" && isDeepStrictEqual(this.way(set), opening);
    const isPlain = entry.label === label && isDeepStrictEqual(this.node(entry), { type: "entry" });
    return isPlain && opens && Object.keys(flagsOf(edge)).length === 0 ? edge : undefined;
  }

  private written(nodes: readonly Node[], edges: readonly Edge[]): Fields {
    const named = nodes.map((node) => [node.label, brief(this.node(node), "checks")] as const);
    return {
      ...(nodes.length > 0 && { nodes: Object.fromEntries(named) }),
      ...(edges.length > 0 && { edges: this.edges(edges) }),
    };
  }

  private nodesOf(treeId: string): Node[] {
    const nodes = [...this.model.nodes.values()].filter(({ tree_id }) => tree_id === treeId);
    return nodes.sort(
      (a, b) => Number(b.type === "entry") - Number(a.type === "entry") || order(a.label, b.label),
    );
  }

  private edgesOf(treeId: string): Edge[] {
    const own = [...this.model.edges.values()].filter(({ tree_id }) => tree_id === treeId);
    const keyed = own.map((edge) => ({ edge, key: JSON.stringify(sortedData(this.edge(edge))) }));
    return keyed
      .sort(
        (a, b) =>
          order(labelOf(this.model, a.edge.source), labelOf(this.model, b.edge.source)) ||
          order(labelOf(this.model, a.edge.target), labelOf(this.model, b.edge.target)) ||
          order(a.edge.priority, b.edge.priority) ||
          order(a.key, b.key),
      )
      .map(({ edge }) => edge);
  }

  private node(node: Node): Fields {
    const { type, description, position, verifications, pass_condition } = node;
    const tree = this.model.trees.get(node.subtree_id ?? "");
    return {
      ...(type !== "screen" && { type }),
      ...(description !== undefined && { description }),
      ...this.checks(verifications),
      ...(pass_condition !== "all" && { pass_condition }),
      ...(node.protected && { protected: true }),
      ...(position.x !== 0 || position.y !== 0 ? { position: { x: position.x, y: position.y } } : {}),
      ...(tree && { nodes: {}, ...this.written(this.nodesOf(tree.id), this.edgesOf(tree.id)) }),
      ...(tree && tree.name !== node.label && { tree: tree.name }),
    };
  }

  private checks(verifications: readonly Verification[]): Fields {
    if (verifications.length === 0) return {};
    const checks = writeChecks(verifications, this.language);
    return checks
      ? { checks: single(sortedStep(checks)) }
      : { verifications: sortedData(verifications.map(withoutNothing)) };
  }

  /** By `FROM -> TO`, or as a list where names would clash. */
  private edges(edges: readonly Edge[]): unknown {
    const written = edges.map((edge) => {
      const ends = { from: labelOf(this.model, edge.source), to: labelOf(this.model, edge.target) };
      return { ...ends, value: this.edge(edge) };
    });
    const names = written.map(({ from, to }) => `${from}${arrow}${to}`);
    const isClear = names.every((name) => name.split(arrow).length === 2);
    if (!isClear || new Set(names).size < names.length)
      return written.map(({ from, to, value }) => ({ from, to, ...value }));
    return Object.fromEntries(written.map(({ value }, at) => [names[at], brief(value, "steps")]));
  }

  private edge(edge: Edge): Fields {
    return {
      ...(this.ways(edge.action_sets) ?? { action_sets: edge.action_sets.map(rawSet) }),
      ...flagsOf(edge),
    };
  }

  /** A way there and a way back; undefined for other sets, and for actions that cannot be written as steps. */
  private ways(sets: readonly ActionSet[]): Fields | undefined {
    const isUsual = sets.every(({ id, direction }) => id === direction);
    const [first, second, ...others] = sets;
    if (!isUsual || !first || others.length > 0 || second?.direction === "forward") return undefined;
    const written = sets.map((set) => this.way(set));
    const [there, back] = first.direction === "forward" ? written : [{}, written[0]];
    if (written.includes(undefined)) return undefined;
    return { ...listless(there), ...(back && { back: brief(listless(back), "steps") }) };
  }

  private way({ actions, retry_actions, failure_actions, kpi }: ActionSet): Fields | undefined {
    const steps = writeActions(actions, this.language);
    const retry = writeActions(retry_actions, this.language);
    const failure = writeActions(failure_actions, this.language);
    const checks = kpi && writeChecks(kpi, this.language);
    if (!steps || !retry || !failure || (kpi && !checks)) return undefined;
    return {
      steps: sortedStep(steps),
      ...(retry.length > 0 && { retry: sortedStep(retry) }),
      ...(failure.length > 0 && { failure: sortedStep(failure) }),
      ...(checks && { kpi: sortedStep(checks) }),
    };
  }
}

function flagsOf({ priority, conditional, sibling_shortcuts, final_wait_ms }: Edge): Fields {
  return {
    ...(priority !== "p2" && { priority }),
    ...(sibling_shortcuts && { siblings: true }),
    ...(conditional && { conditional: true }),
    ...(final_wait_ms > 0 && { final_wait_ms }),
  };
}

function rawSet({ id, direction, ...rest }: ActionSet): unknown {
  const lists = Object.entries(rest).flatMap(([key, list]) =>
    list === undefined || list.length === 0 ? [] : [[key, list.map(withoutNothing)]],
  );
  return sortedData({
    ...(id !== direction && { id }),
    ...(direction !== "forward" && { direction }),
    ...Object.fromEntries(lists),
  });
}

/** An action or a check without arguments has no `params`. */
const withoutNothing = ({ params, ...rest }: Action | Verification) =>
  Object.keys(params).length === 0 ? rest : { ...rest, params };

const single = (list: unknown): unknown => (Array.isArray(list) && list.length === 1 ? list[0] : list);

const listless = (fields: Fields = {}): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, single(value)]));

/** Fields with only `key` are written as its value, and empty fields as null. */
function brief(fields: Fields, key: string): unknown {
  const keys = Object.keys(fields);
  if (keys.length === 0) return null;
  return keys.length === 1 && keys[0] === key ? fields[key] : fields;
}
