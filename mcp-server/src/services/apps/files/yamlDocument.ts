import { z } from "zod";
import {
  type EdgeDraft,
  edgeDraftSchema,
  labelSchema,
  type NodeInput,
  nodeSchema,
  paramsSchema,
  referenceDocumentSchema,
  userInterfaceSchema,
} from "../../../domain/index.ts";

/** Raised when the meaning of an existing key changes; a file of another version is refused. */
const formatVersion = 1;

/** An edge's ends are nodes of its own tree, or the node that the subtree hangs on. */
export type YamlNode = NodeInput & { subtree?: (YamlTree & { name?: string | undefined }) | undefined };
export type YamlTree = { nodes: YamlNode[]; edges: EdgeDraft[] };

const treeShape = {
  get nodes(): z.ZodDefault<z.ZodArray<z.ZodType<YamlNode>>> {
    return z.array(yamlNode).max(5_000).default([]);
  },
  edges: z.array(edgeDraftSchema).max(20_000).default([]),
};

const yamlNode: z.ZodType<YamlNode> = nodeSchema.extend({
  get subtree() {
    return z.strictObject({ name: labelSchema.optional(), ...treeShape }).optional();
  },
});

/** Nodes by label: a check, a list of checks, or {@link nodeValueSchema}. */
const nodes = z.record(labelSchema, z.unknown());
/** By `FROM -> TO`: a step, a list of steps, or {@link edgeValueSchema}. In a list each edge has `from` and `to`. */
const edges = z.union([z.record(z.string(), z.unknown()), z.array(paramsSchema)], {
  error: "edges are a map of FROM -> TO to steps, or a list of {from, to, steps}",
});

export const nodeValueSchema = z.strictObject({
  ...nodeSchema.omit({ label: true }).shape,
  /** A check or a list of checks. `verifications` are for checks that cannot be written as steps. */
  checks: z.unknown().optional(),
  nodes: nodes.optional(),
  edges: edges.optional(),
  /** The name of the tree of `nodes`; by default that of the node. */
  tree: labelSchema.optional(),
});

const waySchema = z.strictObject({
  steps: z.unknown().optional(),
  /** What is tried when a step fails. */
  retry: z.unknown().optional(),
  /** What is done when that fails, too. */
  failure: z.unknown().optional(),
  /** Checks that say when the target is shown, for the time that it takes. */
  kpi: z.unknown().optional(),
});
export type Way = z.output<typeof waySchema>;

export const edgeValueSchema = z.strictObject({
  ...waySchema.shape,
  /** The way from the target to the source: a step, a list, or as the edge itself. */
  back: z.unknown().optional(),
  /** In place of `steps` and `back`, for several ways or ways with names. */
  action_sets: edgeDraftSchema.shape.action_sets.optional(),
  ...edgeDraftSchema.pick({ priority: true, conditional: true, final_wait_ms: true }).shape,
  siblings: z.boolean().optional(),
});
export const backSchema = waySchema;
export const listedEdgeSchema = edgeValueSchema.extend({ from: labelSchema, to: labelSchema });

const tests = z.array(paramsSchema).max(1_000);

/** An app with its nodes, edges, tests and references. `tree` and `testcases` are the form of old files. */
export const appFileSchema = z.strictObject({
  format_version: z.literal(formatVersion).default(formatVersion),
  ...userInterfaceSchema.shape,
  models: userInterfaceSchema.shape.models.default(["web"]),
  /** False: no entry is implied where no node is one. */
  entry: z.literal(false).optional(),
  nodes: nodes.optional(),
  edges: edges.optional(),
  tree: z.strictObject(treeShape).optional(),
  tests: tests.optional(),
  testcases: tests.optional(),
  references: z.array(referenceDocumentSchema).max(1_000).optional(),
});
export type AppFile = z.output<typeof appFileSchema>;

/** Several tests, of the app that they or the file name. */
export const testsFileSchema = z.strictObject({
  app: z.string().min(1).optional(),
  tests: tests.optional(),
  testcases: tests.optional(),
});

/** What edges and nodes of the short form leave out: the app is opened from `Start`. */
export const impliedStart = {
  label: "Start",
  actions: [{ command: "open_app", params: { app: "{{app}}" } }],
} as const;

/** Between the ends of an edge in its name. */
export const arrow = " -> ";
