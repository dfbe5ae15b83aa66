import { z } from "zod";
import { maxTokensField } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "workspace", effect: "write", timeoutMs: 1_800_000 } as const;

const args = z.array(z.string().max(4_000)).max(50).default([]);
const timeoutMs = (ms: number) => z.int().min(100).max(1_800_000).default(ms);
const reason = z.object({ code: z.string(), message: z.string() }).optional();
const said = {
  exit_code: z.int(),
  duration_ms: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  cut: z.int().optional().describe("Characters before the ends that are shown"),
};

export const executeCode = defineTool({
  ...shared,
  name: "execute_code",
  title: "Run code",
  description:
    "Run code in a sandbox without network. It starts in the workspace folder, the only one it can change",
  capabilities: ["CODE_EXECUTION"],
  input: z.strictObject({
    language: z.enum(["python", "node", "bash"]),
    code: z.string().min(1).max(1_000_000).optional(),
    file: z.string().min(1).max(1_000).optional().describe("In the workspace, in place of code"),
    args,
    stdin: z.string().max(1_000_000).optional(),
    timeout_ms: timeoutMs(60_000),
  }),
  output: z.object({ status: z.enum(["completed", "failed"]), reason, ...said }),
  handle: ({ input, services, context }) => services.workspace.execute(input, context),
});

export const runTests = defineTool({
  ...shared,
  name: "run_tests",
  title: "Run tests of code",
  description:
    "Run the workspace's tests in the sandbox and count their results; test cases run by execute_testcase",
  capabilities: ["TESTING", "CODE_EXECUTION"],
  input: z.strictObject({
    runner: z.enum(["vitest", "playwright", "pytest"]),
    args: args.describe("Such as files"),
    timeout_ms: timeoutMs(300_000),
  }),
  output: z.object({
    status: z.enum(["passed", "failed"]),
    reason,
    summary: z.object({ tests: z.int(), passed: z.int(), failed: z.int(), skipped: z.int() }),
    failed_tests: z.array(z.object({ name: z.string(), suite: z.string(), message: z.string() })),
    more: z.int().optional().describe("Failed tests that are not named"),
    ...said,
  }),
  async handle({ input, services, context, attach }) {
    const { ctrf, more, ...reply } = await services.workspace.test(input, context);
    attach({ kind: "link", uri: ctrf.uri, name: "ctrf.json", mimeType: ctrf.mime_type });
    return { ...reply, ...(more > 0 && { more }) };
  },
});

export const workspaceFiles = defineTool({
  ...shared,
  name: "workspace_files",
  title: "Files of the workspace",
  description:
    "Read, write, list or delete text files of the workspace; written code is checked for its syntax",
  capabilities: ["FILE_READ", "FILE_WRITE", "FILE_DELETE", "CODE_GENERATION"],
  effect: "destructive",
  timeoutMs: 60_000,
  authored: true,
  input: z.strictObject({
    operation: z.enum(["read", "write", "list", "delete"]),
    path: z.string().max(1_000).default("").describe("Relative to the workspace"),
    content: z.string().max(5_000_000).optional(),
    confirm: z.boolean().default(false).describe("To delete"),
    ...maxTokensField(2_000),
  }),
  output: z.object({
    path: z.string(),
    content: z.string().optional(),
    entries: z
      .array(
        z.object({
          name: z.string(),
          kind: z.enum(["file", "folder", "link", "other"]),
          bytes: z.int().optional(),
        }),
      )
      .optional(),
    more: z.int().optional().describe("Lines or entries left; raise max_tokens"),
    bytes: z.int().optional(),
    created: z.boolean().optional(),
    deleted: z.boolean().optional(),
    problem: z.string().optional().describe("What does not parse"),
  }),
  handle: ({ input, services, context }) => services.workspace.files(input, context),
});
