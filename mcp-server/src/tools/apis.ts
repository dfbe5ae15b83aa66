import { z } from "zod";
import { apiRequestShape, faultIds, labelSchema, paramsSchema } from "../domain/index.ts";
import { apiEnd, maxTokensField, replaceField, runFields, waitField } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "apis", capabilities: ["API_TESTING"], timeoutMs: 60_000 } as const;

const api = z.string().min(1).optional().describe("Name; needed if several are imported");
const texts = z.array(z.string());

export const importApiSpec = defineTool({
  ...shared,
  name: "import_api_spec",
  title: "Import an API's description",
  description: "Store an OpenAPI 3 or Swagger 2 document",
  effect: "write",
  idempotent: true,
  timeoutMs: 180_000,
  input: z.strictObject({
    source: z.string().min(1).max(2_000).describe("Address, or file in the project or uploads"),
    name: labelSchema.optional().describe("Its title if left out"),
    allow_remote_refs: z.boolean().default(false).describe("Fetch what it refers to at other addresses"),
    ...replaceField,
  }),
  output: z.object({
    api: z.string(),
    version: z.string(),
    format: z.string(),
    operations: z.int(),
    servers: texts,
    replaced: z.boolean(),
    changes: z
      .object({ added: texts, removed: texts, changed: texts, more: z.int() })
      .partial()
      .optional()
      .describe("Operations, against the earlier one"),
    warnings: texts.optional(),
    more_warnings: z.int().optional(),
  }),
  handle: ({ input, services, context }) => services.apis.importSpec(input, context.signal),
});

export const listApiOperations = defineTool({
  ...shared,
  name: "list_api_operations",
  title: "List an API's operations",
  description: "Operations of an imported API: id, method, path, what for",
  effect: "read",
  input: z.strictObject({
    api,
    tag: z.string().optional(),
    search: z.string().max(200).optional(),
    page: z.int().min(1).max(10_000).default(1),
  }),
  output: z.object({
    api: z.string(),
    servers: texts,
    total: z.int(),
    operations: texts,
    more: z.int().optional().describe("On later pages"),
  }),
  handle: ({ input, services }) => services.apis.list(input),
});

export const executeApiRequest = defineTool({
  ...shared,
  name: "execute_api_request",
  title: "Send a request to an API",
  description:
    "Send one HTTP request and judge the reply: by checks, else by the operation's description. Secrets: {{secret.NAME}} in headers and bodies",
  effect: "write",
  timeoutMs: 150_000,
  input: z.strictObject({
    api,
    operation_id: z.string().min(1).optional(),
    params: paramsSchema.default({}).describe("The operation's, by name"),
    method: apiRequestShape.method.unwrap().optional(),
    url: z.string().min(1).max(2_000).optional().describe("With operation_id: the server"),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.unknown().optional().describe("JSON, or a text as it is"),
    form: paramsSchema.optional(),
    multipart: paramsSchema.optional().describe("A file: {file} in uploads"),
    checks: z
      .array(paramsSchema)
      .max(50)
      .optional()
      .describe(
        "{status} | {time_below_ms} | {header|json_path, equals|matches|type|present} | {json_schema}",
      ),
    environment: z.string().min(1).max(200).optional(),
    allow_production: z.boolean().default(false).describe("To write there"),
    follow_redirects: z.boolean().default(true),
    timeout_ms: apiRequestShape.timeout_ms,
    ...maxTokensField(1_500),
  }),
  unlisted: ["follow_redirects", "timeout_ms", "max_tokens"],
  output: z.object({
    status: z.int().optional(),
    duration_ms: z.int().optional(),
    passed: z.boolean().optional().describe("Every check holds"),
    checks: z
      .array(
        z.object({
          expected: z.string(),
          pass: z.boolean(),
          found: z.string().optional(),
          path: z.string().optional(),
        }),
      )
      .optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.unknown().optional(),
    more_characters: z.int().optional().describe("Of the body, not shown; raise max_tokens"),
    curl: z.string(),
  }),
  handle: ({ input, services, context }) => services.apis.execute(input, context.signal),
});

const some = z.array(z.string()).min(1).max(200).optional();

const isFault = (text: string) => faultIds.some((id) => id === text);
/** A list of all would be most of the listing. */
const faultId = z.string().refine(isFault, { error: `one of ${faultIds.join(", ")}` });

export const runApiTests = defineTool({
  ...shared,
  name: "run_api_tests",
  title: "Test an API by its description",
  description:
    "Test operations of an imported API with good and bad requests. Findings carry ids of the Web Fuzzing Commons",
  effect: "write",
  timeoutMs: 660_000,
  input: z.strictObject({
    api,
    operations: some,
    tags: some,
    priority: some,
    base_url: z.string().max(2_000).optional(),
    file: z.string().min(1).max(500).optional().describe("YAML of own values and rules"),
    auth: z
      .record(z.string().min(1).max(80), z.record(z.string().min(1), z.string().max(4_000)))
      .default({})
      .describe("{role:{security scheme or header: {{secret.NAME}}}}; the second role is another user"),
    environment: z.string().min(1).max(200).optional(),
    allow_production: z.boolean().optional(),
    seed: z.int().min(0).optional(),
    faults: z.array(faultId).min(1).optional(),
    save: z.boolean().default(false),
    security: z.boolean().default(false).describe("Also SQL injection, XSS, SSRF (F200-F202)"),
    ...waitField,
    max_cases: z.int().min(1).max(300).default(60).describe("Of each operation"),
    timeout_ms: z.int().min(1_000).max(86_400_000).default(1_800_000).describe("Of the run"),
  }),
  unlisted: ["allow_production", "faults", "max_cases", "timeout_ms"],
  output: z.object({
    ...runFields,
    steps_done: z.int(),
    doing: z.string().optional(),
    ...apiEnd,
  }),
  handle: ({ input, services, context }) => services.apiTests.run(input, context),
});
