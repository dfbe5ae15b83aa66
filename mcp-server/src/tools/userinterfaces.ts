import { isAbsolute } from "node:path";
import { z } from "zod";
import { appSchema, paramsSchema, userInterfaceSchema } from "../domain/index.ts";
import { ToolError } from "../errors.ts";
import { maxTokensField, paged, replaceField } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "userinterfaces", capabilities: ["NAVIGATION_MODEL"], timeoutMs: 30_000 } as const;

const ui = { userinterface_name: z.string().min(1).describe("Name or id") };
const offset = z.int().min(0).default(0);
const more = z.int().optional().describe("Not shown; ask again with a larger offset");
/** A path in a project's folder, with `/`. */
const relativeFile = z
  .string()
  .max(4_000)
  .regex(
    /^(?!\/|[A-Za-z]:)(?!.*(?:^|\/)\.\.(?:\/|$))[^\\\p{Cc}]+\.(?:ya?ml|feature)$/u,
    "must be the path of a YAML or feature file in the project",
  );
const projectPlaceSchema = z.strictObject({
  project: z.string().refine(isAbsolute, "must be an absolute path"),
  file: relativeFile.regex(/\.ya?ml$/, "must be a YAML file"),
});
/** What the command line asks for of the files of a project; models give the text of one. */
const projectLoadSchema = z.strictObject({
  project: projectPlaceSchema.shape.project,
  files: z
    .array(z.strictObject({ file: relativeFile, hash: z.string().length(64), text: z.string().optional() }))
    .max(2_000),
  folders: z.array(z.string().max(4_000)).max(100),
});
const loadReportSchema = z.object({
  needs: z.array(z.string()).optional(),
  files: z.array(
    z.object({
      file: z.string(),
      app: z.string().optional(),
      tests: z.array(z.object({ id: z.string(), name: z.string() })),
      changed: z.boolean(),
    }),
  ),
  archived: z.array(z.string()),
});

const removed = z.object({ nodes: z.int(), edges: z.int(), trees: z.int() });

export const createUserinterface = defineTool({
  ...shared,
  name: "create_userinterface",
  title: "Create a userinterface",
  description:
    "Start the model of an app: an empty navigation tree. Then create_node (one of type entry) and create_edge",
  effect: "write",
  input: userInterfaceSchema.extend({
    models: userInterfaceSchema.shape.models.optional().describe("Device models; default: all of list_hosts"),
    app: userInterfaceSchema.shape.app.describe("url or package"),
    variables: userInterfaceSchema.shape.variables.describe("Fill {{name}}; {{app.url}} is known"),
  }),
  output: z.object({ id: z.string(), name: z.string(), root_tree_id: z.string() }),
  async handle({ input, services }) {
    const models = input.models ?? [...new Set(services.devices.list().map(({ model }) => model))];
    const { id, name, root_tree_id } = await services.userinterfaces.create({ ...input, models });
    return { id, name, root_tree_id };
  },
});

export const listUserinterfaces = defineTool({
  ...shared,
  name: "list_userinterfaces",
  title: "List userinterfaces",
  description: "Apps that have a model, with the device models they run on",
  effect: "read",
  input: z.strictObject(maxTokensField(2_000)),
  output: z.object({
    userinterfaces: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        project: z.string().optional(),
        models: z.array(z.string()),
        nodes: z.int(),
        edges: z.int(),
      }),
    ),
    more: z.int().optional(),
  }),
  handle: async ({ input, services }) => paged(await services.userinterfaces.list(input.max_tokens)),
});

export const getUserinterfaceComplete = defineTool({
  ...shared,
  name: "get_userinterface_complete",
  title: "A whole userinterface",
  description: "An app's settings, trees, nodes and edges, a line each. preview_userinterface is shorter",
  effect: "read",
  view: "tree",
  authored: true,
  input: z.strictObject({ ...ui, offset, ...maxTokensField(2_000) }),
  output: z.object({
    id: z.string(),
    name: z.string(),
    models: z.array(z.string()),
    app: appSchema,
    variables: paramsSchema,
    test_id_attribute: z.string(),
    trees: z.array(z.object({ id: z.string(), name: z.string(), below: z.string().optional() })),
    nodes: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        type: z.string().optional(),
        tree: z.string().optional(),
        checks: z.int(),
      }),
    ),
    edges: z.array(
      z.object({ id: z.string(), edge: z.string(), actions: z.string(), flags: z.string().optional() }),
    ),
    more,
  }),
  async handle({ input, services }) {
    const {
      more: left,
      root_tree_id: _,
      ...view
    } = await services.userinterfaces.complete(input.userinterface_name, input);
    return { ...view, ...(left > 0 && { more: left }) };
  },
});

export const exportUserinterface = defineTool({
  ...shared,
  name: "export_userinterface",
  title: "Export a userinterface",
  description: "An app's model, test cases and references as YAML, to keep in git",
  effect: "read",
  authored: true,
  timeoutMs: 60_000,
  input: z.strictObject({ ...ui, schema: z.string().optional() }),
  unlisted: ["schema"],
  output: z.object({ yaml: z.string() }),
  handle: async ({ input, services }) => ({
    yaml: await services.appFiles.exportYaml(input.userinterface_name, input.schema),
  }),
});

export const importUserinterface = defineTool({
  ...shared,
  name: "import_userinterface",
  title: "Import a userinterface",
  description:
    "Store an app with its tests, or tests alone, from YAML as export_userinterface gives it, all or nothing",
  effect: "write",
  idempotent: true,
  timeoutMs: 120_000,
  input: z.strictObject({
    yaml: z.string().min(1).optional().describe("Required: the text of the file"),
    replace: replaceField.replace.describe("What has its names"),
    file: z.string().max(4_000).optional().describe("Its name; with .feature the text is Gherkin"),
    dry_run: z
      .strictObject({
        files: z
          .array(z.strictObject({ file: z.string().max(4_000), yaml: z.string() }))
          .min(1)
          .max(2_000),
      })
      .optional()
      .describe("In place of yaml: says what is wrong with these files together, and stores nothing"),
    load: projectLoadSchema.optional(),
    keep_in: projectPlaceSchema.extend({ userinterface_name: z.string(), hash: z.string() }).optional(),
  }),
  unlisted: ["dry_run", "load", "keep_in"],
  output: z.object({
    id: z.string().optional(),
    name: z.string().optional(),
    replaced: z.boolean().optional(),
    trees: z.int().optional(),
    nodes: z.int().optional(),
    edges: z.int().optional(),
    testcases: z.int().optional(),
    names: z.array(z.string()).optional(),
    references: z.int().optional(),
    ...{ apps: z.int().optional(), tests: z.int().optional(), unchecked: z.int().optional() },
    findings: z.array(z.record(z.string(), z.unknown())).optional(),
    loaded: loadReportSchema.optional(),
  }),
  async handle({ input: { yaml, replace, file, dry_run: examined, load, keep_in }, services }) {
    if (examined) return services.appFiles.examine(examined.files);
    if (load && !replace)
      throw new ToolError(
        "CONFIRMATION_REQUIRED",
        "Loading the files of a project replaces and archives what is stored of it.",
        "Call again with replace: true.",
      );
    if (load) return { loaded: await services.appFiles.load(load) };
    if (keep_in) {
      await services.appFiles.keepIn(keep_in.userinterface_name, keep_in);
      return {};
    }
    if (yaml !== undefined) return services.appFiles.importYaml(yaml, replace, file);
    throw new ToolError("INVALID_INPUT", "yaml is missing.", "Give the text of the file as yaml.");
  },
});

export const deleteUserinterface = defineTool({
  ...shared,
  name: "delete_userinterface",
  title: "Delete a userinterface",
  description: "Delete an app's model with its trees and history. Test cases stay",
  effect: "destructive",
  timeoutMs: 60_000,
  input: z.strictObject({
    ...ui,
    confirm: z.boolean().default(false).describe("Without it, says what would go"),
  }),
  output: removed,
  handle: ({ input, services }) => services.userinterfaces.remove(input.userinterface_name, input.confirm),
});
