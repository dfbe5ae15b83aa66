import type { z } from "zod";
import type { ActionSet, EdgeDraft, NodeInput } from "../../../domain/index.ts";
import { edgeDraftSchema, nodeSchema } from "../../../domain/index.ts";
import {
  type Fields,
  isFields,
  isStepVerb,
  type Language,
  type Path,
  readActions,
  readChecks,
} from "../steps/index.ts";
import type { Problems } from "./problems.ts";
import {
  type AppFile,
  arrow,
  backSchema,
  edgeValueSchema,
  impliedStart,
  listedEdgeSchema,
  nodeValueSchema,
  type Way,
  type YamlTree,
} from "./yamlDocument.ts";

/** A tree of a file; `at` is where a node or edge is written. */
export type DraftTree = {
  nodes: {
    at: Path;
    input: NodeInput;
    subtree?: (DraftTree & { at: Path; name?: string | undefined }) | undefined;
  }[];
  edges: { at: Path; draft: EdgeDraft }[];
};

export function readTree(file: AppFile, language: Language, problems: Problems): DraftTree {
  const { tree, nodes = {}, edges } = file;
  if (tree && (file.nodes || edges)) problems.add(["tree"], "give nodes and edges, or tree, not both");
  if (tree) return oldTree(tree, ["tree"]);
  const read = new TreeReader(language, problems).tree(nodes, edges, []);
  return file.entry === false ? read : withStart(read, problems);
}

/** Without an entry, an implied `Start` opens the app and leads to the first node. */
function withStart(tree: DraftTree, problems: Problems): DraftTree {
  const [first] = tree.nodes;
  if (!first || tree.nodes.some(({ input }) => input.type === "entry")) return tree;
  const { label } = impliedStart;
  const named = tree.nodes.find(({ input }) => input.label === label);
  if (named) {
    problems.add(named.at, `no node is an entry: give "${label}" the type entry, or another name`);
    return tree;
  }
  const start = nodeSchema.parse({ label, type: "entry" });
  const { actions } = impliedStart;
  const draft = edgeDraftSchema.parse({
    source: label,
    target: first.input.label,
    action_sets: [{ actions }],
  });
  const isLeft = tree.edges.some(({ draft: { source } }) => source === label);
  return {
    nodes: [{ at: [], input: start }, ...tree.nodes],
    edges: isLeft ? tree.edges : [{ at: first.at, draft }, ...tree.edges],
  };
}

function oldTree(tree: YamlTree, path: Path): DraftTree {
  return {
    nodes: tree.nodes.map(({ subtree, ...input }, index) => {
      const at = [...path, "nodes", index];
      const below = [...at, "subtree"];
      return { at, input, subtree: subtree && { ...oldTree(subtree, below), at: below, name: subtree.name } };
    }),
    edges: tree.edges.map((draft, index) => ({ at: [...path, "edges", index], draft })),
  };
}

class TreeReader {
  constructor(
    private readonly language: Language,
    private readonly problems: Problems,
  ) {}

  tree(nodes: Fields, edges: AppFile["edges"], path: Path): DraftTree {
    return {
      nodes: Object.entries(nodes).flatMap(([label, value]) =>
        this.node(label.trim(), value, [...path, "nodes", label]),
      ),
      edges: Array.isArray(edges)
        ? edges.flatMap((value, index) => this.listedEdge(value, [...path, "edges", index]))
        : Object.entries(edges ?? {}).flatMap(([name, value]) =>
            this.namedEdge(name, value, [...path, "edges", name]),
          ),
    };
  }

  private node(label: string, value: unknown, at: Path): DraftTree["nodes"] {
    if (!isFields(value) || this.isStep(value, nodeValueSchema)) {
      const verifications = this.checks(value, at);
      return [{ at, input: nodeSchema.parse({ label, verifications }) }];
    }
    const given = this.problems.parsed(nodeValueSchema, value, at);
    if (!given) return [];
    const { checks, nodes, edges, tree: name, ...rest } = given;
    const read = this.checks(checks, [...at, "checks"]);
    const input = { ...rest, label, verifications: [...read, ...rest.verifications] };
    if (!nodes && !edges) return [{ at, input }];
    return [{ at, input, subtree: { ...this.tree(nodes ?? {}, edges, at), at, name } }];
  }

  private namedEdge(name: string, value: unknown, at: Path): DraftTree["edges"] {
    const [from, to, ...others] = name.split(arrow).map((label) => label.trim());
    if (!from || !to || others.length > 0) {
      const message = `an edge is named FROM${arrow}TO, with labels of nodes; a label that holds an arrow needs a list of {from, to, steps}`;
      this.problems.add(at.slice(0, -1), message, name);
      return [];
    }
    return this.edge(from, to, value, at);
  }

  private listedEdge(value: Fields, at: Path): DraftTree["edges"] {
    const given = this.problems.parsed(listedEdgeSchema, value, at);
    if (!given) return [];
    const { from: _, to: __, ...rest } = value;
    return this.edge(given.from, given.to, rest, at);
  }

  private edge(source: string, target: string, value: unknown, at: Path): DraftTree["edges"] {
    const isBrief = !isFields(value) || this.isStep(value, edgeValueSchema);
    const given = isBrief
      ? edgeValueSchema.parse({ steps: value ?? [] })
      : this.problems.parsed(edgeValueSchema, value, at);
    if (!given) return [];
    const { back, action_sets, siblings, steps, retry, failure, kpi, ...rest } = given;
    if (action_sets && (steps ?? back) !== undefined)
      this.problems.add(at, "give steps and back, or action_sets, not both");
    const there =
      steps === undefined ? [] : [this.way("forward", { steps, retry, failure, kpi }, at, isBrief)];
    const home = back === undefined ? [] : [this.back(back, [...at, "back"])];
    const sets = action_sets ?? [...there, ...home];
    if (sets.length === 0) {
      this.problems.add(at, "an edge needs steps, back or action_sets");
      return [];
    }
    const flags = siblings === undefined ? {} : { sibling_shortcuts: siblings };
    return [{ at, draft: { ...rest, ...flags, source, target, action_sets: sets } }];
  }

  private back(value: unknown, at: Path): ActionSet {
    if (!isFields(value) || this.isStep(value, backSchema))
      return this.way("reverse", { steps: value }, at, true);
    return this.way("reverse", this.problems.parsed(backSchema, value, at) ?? {}, at, false);
  }

  /** `isBrief`: the value at the path is the steps themselves. */
  private way(direction: ActionSet["direction"], way: Way, at: Path, isBrief: boolean): ActionSet {
    const { steps, retry, failure, kpi } = way;
    return {
      ...{ id: direction, direction },
      actions: this.actions(steps, isBrief ? at : [...at, "steps"]),
      retry_actions: this.actions(retry, [...at, "retry"]),
      failure_actions: this.actions(failure, [...at, "failure"]),
      ...(kpi !== undefined && { kpi: this.checks(kpi, [...at, "kpi"]) }),
    };
  }

  private actions(value: unknown, at: Path) {
    return readActions(value, at, { ...this.language, report: this.report });
  }

  private checks(value: unknown, at: Path) {
    return readChecks(value, at, { ...this.language, report: this.report });
  }

  private readonly report = ({ path, message, key }: { path: Path; message: string; key?: string }) =>
    this.problems.add(path, message, key);

  /** An own key of a node or an edge wins over a command of the same name, such as `back`. */
  private isStep(value: Fields, own: z.ZodObject): boolean {
    const keys = Object.keys(value);
    return (
      !keys.some((key) => Object.hasOwn(own.shape, key)) &&
      keys.some((key) => isStepVerb(this.language.verbs, key))
    );
  }
}
