import { z } from "zod";
import { paramsSchema } from "../domain/index.ts";
import {
  deviceFields,
  maxTokensField,
  navigationEnd,
  paged,
  validationEnd,
  waitField,
} from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

const ui = { userinterface_name: z.string().min(1) };
const runFields = {
  ...deviceFields,
  ...ui,
  variables: paramsSchema.optional().describe("Fill {{name}}"),
  timeout_ms: z.int().min(1).max(3_600_000).optional(),
  ...waitField,
};
/** Longest wait_ms and a margin: the call's own limit must not cut off a wait. */
const waitingMs = 660_000;

const navigationReply = z.object({
  execution_id: z.string(),
  status: z.string(),
  queue: z.string().optional(),
  duration_ms: z.int().optional(),
  ...navigationEnd,
});

export const listNavigationNodes = defineTool({
  name: "list_navigation_nodes",
  title: "List nodes",
  description: "Places of an app that can be navigated to, with how many checks prove each",
  domain: "navigation",
  capabilities: ["NAVIGATION"],
  effect: "read",
  timeoutMs: 30_000,
  input: z.strictObject({ ...ui, offset: z.int().min(0).default(0), ...maxTokensField(2_000) }),
  output: z.object({
    nodes: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        type: z.string().optional(),
        tree: z.string().optional(),
        checks: z.int(),
      }),
    ),
    more: z.int().optional().describe("Not shown; ask again with a larger offset"),
  }),
  handle: async ({ input, services }) =>
    paged(await services.navigation.nodes(input.userinterface_name, input)),
});

export const previewUserinterface = defineTool({
  name: "preview_userinterface",
  title: "Preview a userinterface",
  description: "The app's map in a few lines: each node → where its edges lead. ? has no checks",
  view: "tree",
  domain: "navigation",
  capabilities: ["NAVIGATION"],
  effect: "read",
  timeoutMs: 30_000,
  input: z.strictObject({ ...ui, ...maxTokensField(1_000) }),
  output: z.object({
    map: z.string(),
    more: z.int().optional().describe("Lines not shown; raise max_tokens"),
  }),
  handle: async ({ input, services }) =>
    paged(await services.navigation.preview(input.userinterface_name, input.max_tokens)),
});

export const navigateToNode = defineTool({
  name: "navigate_to_node",
  title: "Go to a node",
  description: "Go to a place of the app by name, from wherever the device is, and check the arrival",
  domain: "navigation",
  capabilities: ["NAVIGATION", "INTERACTION_TESTING"],
  effect: "write",
  timeoutMs: waitingMs,
  input: z.strictObject({ ...runFields, node: z.string().min(1).describe("Id or label") }),
  output: navigationReply,
  async handle({ input: { userinterface_name, node, ...rest }, services, context }) {
    const request = { ...rest, userinterface: userinterface_name, target: node };
    const reply = await services.navigation.runNavigation(request, context);
    if (reply.status === "passed" && services.steps.running() > 0) {
      const { entry } = await services.devices.peek(rest, context);
      services.steps.note(entry.id, [{ command: "go", params: { node } }], context);
    }
    return reply;
  },
});

export const executeEdge = defineTool({
  name: "execute_edge",
  title: "Try an edge",
  description: "Run one edge's actions from the present screen and check where they lead",
  domain: "navigation",
  capabilities: ["NAVIGATION", "INTERACTION_TESTING"],
  effect: "write",
  timeoutMs: waitingMs,
  input: z.strictObject({
    ...runFields,
    edge: z.string().min(1).describe("Id or 'Source → Target'"),
    action_set: z.string().optional().describe("Default: the first forward one"),
  }),
  output: navigationReply,
  handle: ({ input: { userinterface_name, ...rest }, services, context }) =>
    services.navigation.runEdge({ ...rest, userinterface: userinterface_name }, context),
});

export const getCurrentPosition = defineDeviceTool({
  name: "get_current_position",
  title: "Where am I",
  description: "The node a device is at: as tracked, or with identify from its screen",
  domain: "navigation",
  capabilities: ["NAVIGATION"],
  effect: "read",
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({ ...deviceFields, ...ui, identify: z.boolean().default(false) }),
  output: z.object({
    node: z.string().optional(),
    node_id: z.string().optional(),
    verified: z.boolean().describe("Seen to be true lately"),
    age_ms: z.int().optional(),
    source: z.string(),
    looked_at: z.int().optional(),
  }),
  handle: ({ input, services, device, signal }) => services.navigation.position(device, input, signal),
});

export const validateNavigation = defineTool({
  name: "validate_navigation",
  title: "Validate navigation",
  description: "Walk every edge of an app and report which fail",
  domain: "navigation",
  capabilities: ["NAVIGATION", "TESTING"],
  effect: "write",
  timeoutMs: waitingMs,
  input: z.strictObject(runFields),
  output: z.object({
    execution_id: z.string(),
    status: z.string(),
    queue: z.string().optional(),
    ...validationEnd,
  }),
  handle: ({ input: { userinterface_name, ...rest }, services, context }) =>
    services.navigation.runValidation({ ...rest, userinterface: userinterface_name }, context),
});
