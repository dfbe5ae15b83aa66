import { z } from "zod";
import {
  actionSetSchema,
  edgeDraftSchema,
  nodeSchema,
  nodeTypeSchema,
  passConditionSchema,
  positionSchema,
  reliabilitySchema,
} from "../domain/index.ts";
import { deviceFields, maxTokensField, paged } from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

const shared = { domain: "tree", capabilities: ["NAVIGATION_MODEL"], timeoutMs: 30_000 } as const;

const ui = { userinterface_name: z.string().min(1) };
const node = { node: z.string().min(1).describe("Id or label") };
const edge = { edge: z.string().min(1).describe("Id or 'Source → Target'") };
const confirm = { confirm: z.boolean().default(false).describe("Without it, says what would go") };
const idAndLabel = z.object({ id: z.string(), label: z.string() });
const idAndEdge = z.object({ id: z.string(), edge: z.string() });
const reliability = z.array(reliabilitySchema);

const { source, target, ...edgeFields } = edgeDraftSchema.extend({
  conditional: edgeDraftSchema.shape.conditional.describe(
    "Shares its action set's id; the target that verifies decides",
  ),
  sibling_shortcuts: edgeDraftSchema.shape.sibling_shortcuts.describe(
    "Such targets of one source reach each other",
  ),
}).shape;

export const createNode = defineTool({
  ...shared,
  name: "create_node",
  title: "Create a node",
  description:
    "Add a place of the app to its tree. A tree has one entry, where runs start; a button is an edge, no node",
  effect: "write",
  input: z.strictObject({
    ...ui,
    tree: z.string().min(1).optional().describe("Of a subtree; default the root"),
    ...nodeSchema.shape,
    verifications: nodeSchema.shape.verifications.describe("Prove the place"),
  }),
  unlisted: ["position"],
  output: idAndLabel,
  async handle({ input: { userinterface_name: name, tree, ...given }, services }) {
    const { id, label } = await services.userinterfaces.createNode(name, tree, given);
    return { id, label };
  },
});

export const getNode = defineTool({
  ...shared,
  name: "get_node",
  title: "Get a node",
  description: "A place with its checks and how reliable they were",
  effect: "read",
  authored: true,
  input: z.strictObject({ ...ui, ...node }),
  output: nodeSchema.partial().extend({
    id: z.string(),
    label: z.string(),
    tree: z.string(),
    subtree: z.string().optional(),
    screenshot: z.string().optional(),
    reliability,
  }),
  handle: ({ input, services }) => services.userinterfaces.getNode(input.userinterface_name, input.node),
});

export const updateNode = defineTool({
  ...shared,
  name: "update_node",
  title: "Change a node",
  description: "Change what is given of a node. A protected one needs protected: false",
  effect: "write",
  idempotent: true,
  input: z.strictObject({
    ...ui,
    ...node,
    label: nodeSchema.shape.label.optional(),
    type: nodeTypeSchema.optional(),
    position: positionSchema.optional(),
    description: nodeSchema.shape.description,
    verifications: nodeSchema.shape.verifications.removeDefault().optional().describe("Prove the place"),
    pass_condition: passConditionSchema.optional(),
    protected: z.boolean().optional(),
  }),
  unlisted: ["position"],
  output: idAndLabel,
  async handle({ input: { userinterface_name: name, node: wanted, ...patch }, services }) {
    const { id, label } = await services.userinterfaces.updateNode(name, wanted, patch);
    return { id, label };
  },
});

export const deleteNode = defineTool({
  ...shared,
  name: "delete_node",
  title: "Delete a node",
  description: "Delete a node with its edges and the subtree below it",
  effect: "destructive",
  input: z.strictObject({ ...ui, ...node, ...confirm }),
  output: z.object({ nodes: z.int(), edges: z.int(), trees: z.int() }),
  handle: ({ input, services }) =>
    services.userinterfaces.deleteNode(input.userinterface_name, input.node, input.confirm),
});

export const listEdges = defineTool({
  ...shared,
  name: "list_edges",
  title: "List edges",
  description: "Edges of an app, or of one node, with the commands they run",
  effect: "read",
  input: z.strictObject({
    ...ui,
    node: node.node.optional(),
    offset: z.int().min(0).default(0),
    ...maxTokensField(2_000),
  }),
  output: z.object({
    edges: z.array(
      z.object({ id: z.string(), edge: z.string(), actions: z.string(), flags: z.string().optional() }),
    ),
    more: z.int().optional().describe("Not shown; ask again with a larger offset"),
  }),
  handle: async ({ input, services }) =>
    paged(await services.userinterfaces.listEdges(input.userinterface_name, input.node, input)),
});

export const createEdge = defineTool({
  ...shared,
  name: "create_edge",
  title: "Create an edge",
  description:
    "Add the way from one node to another: the actions that lead there, and with direction reverse back",
  effect: "write",
  input: z.strictObject({ ...ui, source: source.describe("Id or label"), target, ...edgeFields }),
  output: idAndEdge,
  async handle({ input: { userinterface_name: name, ...draft }, services }) {
    return services.userinterfaces.createEdge(name, draft);
  },
});

export const getEdge = defineTool({
  ...shared,
  name: "get_edge",
  title: "Get an edge",
  description: "An edge with its action sets and how reliable each was",
  effect: "read",
  authored: true,
  input: z.strictObject({ ...ui, ...edge }),
  output: z.object({
    id: z.string(),
    source: z.string(),
    target: z.string(),
    tree: z.string(),
    action_sets: z.array(actionSetSchema),
    priority: z.string(),
    conditional: z.boolean().optional(),
    sibling_shortcuts: z.boolean().optional(),
    final_wait_ms: z.int().optional(),
    reliability,
  }),
  handle: ({ input, services }) => services.userinterfaces.getEdge(input.userinterface_name, input.edge),
});

export const updateEdge = defineTool({
  ...shared,
  name: "update_edge",
  title: "Change an edge",
  description: "Change what is given of an edge; action_sets replaces all of them",
  effect: "write",
  idempotent: true,
  input: z.strictObject({
    ...ui,
    ...edge,
    ...edgeFields,
    action_sets: edgeFields.action_sets.optional(),
    priority: edgeFields.priority.removeDefault().optional(),
    final_wait_ms: edgeFields.final_wait_ms.removeDefault().optional(),
  }),
  output: idAndEdge,
  async handle({ input: { userinterface_name: name, edge: wanted, ...patch }, services }) {
    return services.userinterfaces.updateEdge(name, wanted, patch);
  },
});

export const deleteEdge = defineTool({
  ...shared,
  name: "delete_edge",
  title: "Delete an edge",
  description: "Delete an edge with its history",
  effect: "destructive",
  input: z.strictObject({ ...ui, ...edge, ...confirm }),
  output: z.object({ edges: z.int() }),
  handle: ({ input, services }) =>
    services.userinterfaces.deleteEdge(input.userinterface_name, input.edge, input.confirm),
});

export const createSubtree = defineTool({
  ...shared,
  name: "create_subtree",
  title: "Create a subtree",
  description:
    "Attach a subtree to a node (at most 5 levels). Add its nodes with tree; edges lead from the node itself, or from the subtree's own entry, which is the same place",
  effect: "write",
  input: z.strictObject({
    ...ui,
    ...node,
    name: nodeSchema.shape.label.optional().describe("Default: the node's label"),
  }),
  output: z.object({ id: z.string(), name: z.string(), parent: z.string(), depth: z.int() }),
  async handle({ input, services }) {
    const { userinterface_name, node: parentNode, name: wanted } = input;
    const subtree = await services.userinterfaces.createSubtree(userinterface_name, parentNode, wanted);
    const { id, name, parent, depth } = subtree;
    return { id, name, parent, depth };
  },
});

export const saveNodeScreenshot = defineDeviceTool({
  ...shared,
  name: "save_node_screenshot",
  title: "Keep a node's picture",
  description: "Take a screenshot now and keep it with a node",
  capabilities: ["NAVIGATION_MODEL", "SCREENSHOT"],
  effect: "write",
  idempotent: true,
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({ ...deviceFields, ...ui, ...node }),
  output: z.object({ node: z.string(), screenshot: z.string() }),
  async handle({ input, services, device, signal, attach }) {
    const saved = await services.navigation.saveScreenshot(device, input, signal);
    attach({ kind: "link", uri: saved.uri, name: `${input.node}`, mimeType: saved.mime_type });
    return { node: saved.node, screenshot: saved.uri };
  },
});
