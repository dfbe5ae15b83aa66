import { appShape } from "@labwright/controllers";
import { z } from "zod";
import { actionSchema, passConditionSchema, verificationSchema } from "./action.ts";
import { durationMs, labelSchema, paramsSchema, positionSchema, startShape } from "./common.ts";

export const appSchema = z.strictObject({
  ...appShape,
  ...startShape,
});

/** The model of one app, apart from its tree. `variables` are defaults for `{{name}}` in actions and checks. */
export const userInterfaceSchema = z.strictObject({
  name: labelSchema,
  models: z.array(z.string().min(1)).min(1).max(20),
  app: appSchema.default({}),
  variables: paramsSchema.default({}),
  test_id_attribute: z
    .string()
    .regex(/^[a-zA-Z][\w-]*$/)
    .default("data-testid"),
});
export type UserInterfaceInput = z.output<typeof userInterfaceSchema>;

export const nodeTypeSchema = z.enum(["entry", "screen", "action"]);

/** A place in an app. What the caller may set; ids, tree and metrics are the server's. */
export const nodeSchema = z.strictObject({
  label: labelSchema,
  type: nodeTypeSchema.default("screen"),
  position: positionSchema.default({ x: 0, y: 0 }),
  description: z.string().max(2_000).optional(),
  verifications: z.array(verificationSchema).max(50).default([]),
  pass_condition: passConditionSchema.default("all"),
  protected: z.boolean().default(false),
});
export type NodeInput = z.output<typeof nodeSchema>;

export const actionSetSchema = z.strictObject({
  id: z.string().min(1).max(80),
  direction: z.enum(["forward", "reverse"]).default("forward"),
  actions: z.array(actionSchema).max(100).default([]),
  retry_actions: z.array(actionSchema).max(100).default([]),
  failure_actions: z.array(actionSchema).max(100).default([]),
  kpi: z.array(verificationSchema).max(10).optional(),
});
export type ActionSet = z.output<typeof actionSetSchema>;

/** A way from one place to another. `source` and `target` are node ids in the store, ids or labels in a tool call. */
export const edgeSchema = z.strictObject({
  source: z.string().min(1),
  target: z.string().min(1),
  action_sets: z.array(actionSetSchema).min(1).max(10),
  priority: z.enum(["p1", "p2", "p3"]).default("p2"),
  /** Shares its action set with other edges; which target verifies decides where the device is. */
  conditional: z.boolean().optional(),
  /** The targets of this kind of edge from one parent reach each other directly, as the tabs of a tab bar do. */
  sibling_shortcuts: z.boolean().optional(),
  final_wait_ms: durationMs(60_000).default(0),
});
export type EdgeInput = z.output<typeof edgeSchema>;

export type Node = NodeInput & {
  id: string;
  tree_id: string;
  screenshot?: string | undefined;
  subtree_id?: string | undefined;
};
export type Edge = EdgeInput & { id: string; tree_id: string };
export type UserInterface = UserInterfaceInput & { id: string; root_tree_id: string };
/** A subtree hangs below `parent_node_id` of another tree; a root tree has none. */
export type Tree = {
  id: string;
  userinterface_id: string;
  parent_node_id?: string | undefined;
  name: string;
};
