import { randomUUID } from "node:crypto";
import { findSandbox } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { ArtifactRef, ArtifactStore, CallContext, Language } from "../../ports.ts";
import { pageOf } from "../../values/pages.ts";
import { ctrfDocument } from "../reports/ctrf.ts";
import { findInterpreter, openRunFolder, readResult } from "../scripts/index.ts";
import { type Entry, inlineName, inside, placeInside, WorkspaceFolder } from "./folder.ts";
import { readJunit, type TestResult } from "./junit.ts";
import { checkEnd, type ProgramDependencies, type ProgramEnd, Programs } from "./program.ts";
import { notInstalled, type Runner, resultFile, runnerCommand } from "./runners.ts";

export type CodeRequest = {
  language: Language;
  /** One of the two. */
  code?: string | undefined;
  file?: string | undefined;
  args: readonly string[];
  stdin?: string | undefined;
  timeout_ms: number;
};
export type Reason = { code: string; message: string };
type Said = Pick<ProgramEnd, "duration_ms" | "stdout" | "stderr" | "cut"> & { exit_code: number };
export type CodeReply = Said & { status: "completed" | "failed"; reason?: Reason };

export type TestRequest = { runner: Runner; args: readonly string[]; timeout_ms: number };
export type TestReply = Said & {
  status: "passed" | "failed";
  reason?: Reason;
  summary: { tests: number; passed: number; failed: number; skipped: number };
  failed_tests: { name: string; suite: string; message: string }[];
  /** Failed tests that are not named. */
  more: number;
  ctrf: ArtifactRef;
};

export type FilesRequest = {
  operation: "read" | "write" | "list" | "delete";
  path: string;
  content?: string | undefined;
  confirm: boolean;
  max_tokens: number;
};
export type FilesReply = {
  path: string;
  content?: string;
  entries?: Entry[];
  /** Lines of a file or entries of a folder that did not fit. */
  more?: number;
  bytes?: number;
  created?: boolean;
  deleted?: boolean;
  /** What does not parse in a file of code that was written. */
  problem?: string;
};

/** Code, tests and files of one folder, which is all that code in the sandbox sees of the host. */
export type WorkspaceService = {
  /**
   * Runs code to its end. Throws SANDBOX_UNAVAILABLE, EXECUTION_TIMEOUT, OUT_OF_MEMORY, INSUFFICIENT_RESOURCES, and
   * TOOL_FAILED for code that a signal ended; an exit code is a result.
   */
  execute(request: CodeRequest, context: CallContext): Promise<CodeReply>;
  /** Runs tests. Throws as `execute`; TOOL_FAILED also for a runner that left no results, NOTHING_VERIFIED without a test. */
  test(request: TestRequest, context: CallContext): Promise<TestReply>;
  /** Throws PATH_DENIED, FILE_NOT_FOUND, INPUT_TOO_LARGE, CONFIRMATION_REQUIRED for a deletion. */
  files(request: FilesRequest, context: CallContext): Promise<FilesReply>;
};

export type WorkspaceDependencies = Omit<ProgramDependencies, "findSandbox"> & {
  folder: string;
  /** Of the data directory, for the results of tests. */
  runsFolder: string;
  artifacts: ArtifactStore;
  findSandbox?: typeof findSandbox;
};

const extensions = { python: "py", node: "js", bash: "sh" } as const satisfies Record<Language, string>;
const mostFailed = 20;
const messageCharacters = 300;
const mostReportBytes = 8_000_000;
const checkMs = 10_000;

export function createWorkspace(deps: WorkspaceDependencies): WorkspaceService {
  return new Workspace({ findSandbox, ...deps });
}

class Workspace implements WorkspaceService {
  private readonly folder: WorkspaceFolder;
  private readonly programs: Programs;

  constructor(private readonly deps: WorkspaceDependencies & ProgramDependencies) {
    this.programs = new Programs(deps);
    this.folder = new WorkspaceFolder(deps.folder, async () => {
      const found = await deps.findSandbox(new AbortController().signal);
      return found.ok ? found.sandbox.sharedUser : undefined;
    });
  }

  async execute(request: CodeRequest, context: CallContext): Promise<CodeReply> {
    const { language, code, file, args, stdin, timeout_ms } = request;
    if ((code === undefined) === (file === undefined)) {
      const hint = "Give code for text, or file for a path in the workspace.";
      throw new ToolError("INVALID_INPUT", "Either code or file is needed, and not both.", hint);
    }
    if (file !== undefined) await this.folder.find(file);
    const name = file ?? inlineName(extensions[language]);
    if (code !== undefined) await this.folder.write(name, code);
    try {
      const end = await this.run(language, [placeInside(name), ...args], { stdin, timeout_ms }, context);
      checkEnd(end);
      return codeReply(end);
    } finally {
      if (code !== undefined) await this.folder.remove(name);
    }
  }

  async test({ runner, args, timeout_ms }: TestRequest, context: CallContext): Promise<TestReply> {
    const { artifacts, clock, secrets } = this.deps;
    const folder = await this.folder.path();
    const { mounts = [], ...command } = await runnerCommand(runner, args, folder, context.signal);
    const results = await openRunFolder(this.deps.runsFolder);
    try {
      const result = { from: results.result, to: resultFile, writable: true };
      const program = { ...command, mounts: [...mounts, result], folder, timeout_ms };
      const end = await this.programs.run(program, context);
      const tests = readJunit(await readResult(results, mostReportBytes));
      const judged = judge(runner, end, tests, folder);
      const stop = clock.now();
      const document = ctrfDocument({
        id: randomUUID(),
        generatedAt: new Date(stop).toISOString(),
        tool: runner,
        tests: judged.tests.map(({ duration_ms: duration, suite, ...test }) => ({
          ...test,
          duration,
          ...(suite && { suite: [suite] }),
        })),
        summary: { start: stop - end.duration_ms, stop, duration: end.duration_ms },
      });
      const ctrf = await artifacts.put(Buffer.from(secrets.mask(document)), "application/json");
      return { ...secrets.mask(judged.reply), ctrf };
    } finally {
      await results.remove();
    }
  }

  async files(request: FilesRequest, context: CallContext): Promise<FilesReply> {
    const { operation, path, content, confirm, max_tokens } = request;
    if ((operation === "write") !== (content !== undefined)) {
      const message = "content is needed to write, and for nothing else.";
      throw new ToolError("INVALID_INPUT", message, 'An empty file has content "".');
    }
    switch (operation) {
      case "read": {
        const { items, more } = pageOf((await this.folder.read(path)).split("\n"), 0, max_tokens);
        return { path, content: items.join("\n"), ...(more > 0 && { more }) };
      }
      case "list": {
        const { items, more } = pageOf(await this.folder.list(path), 0, max_tokens);
        return { path, entries: items, ...(more > 0 && { more }) };
      }
      case "write": {
        const written = await this.folder.write(path, content ?? "");
        const problem = await this.problemOf(path, content ?? "", context);
        return { path, ...written, ...(problem !== undefined && { problem }) };
      }
      case "delete":
        return this.remove(path, confirm);
    }
  }

  private async remove(path: string, confirm: boolean): Promise<FilesReply> {
    const { kind } = await this.folder.find(path);
    if (!confirm) {
      const what = kind === "folder" ? `the folder ${path} with all that is in it` : `the ${kind} ${path}`;
      const message = `This would delete ${what} from the workspace.`;
      throw new ToolError("CONFIRMATION_REQUIRED", message, "Call again with confirm: true.", {
        would_delete: [path],
      });
    }
    await this.folder.remove(path);
    return { path, deleted: true };
  }

  private async run(
    language: Language,
    args: readonly string[],
    more: { stdin?: string | undefined; timeout_ms: number },
    context: CallContext,
  ): Promise<ProgramEnd> {
    const folder = await this.folder.path();
    const { command, places } = await findInterpreter(language, context.signal);
    const mounts = places.map((place) => ({ from: place, to: place }));
    return this.programs.run({ command: [...command, ...args], mounts, folder, ...more }, context);
  }

  /** Why a file of code does not parse. Undefined when it does, and when that cannot be said. */
  private async problemOf(path: string, content: string, context: CallContext): Promise<string | undefined> {
    if (path.endsWith(".json")) return jsonProblem(content);
    const checker = checkers.find(({ files }) => files.test(path));
    if (!checker) return undefined;
    try {
      const args = [...checker.args, placeInside(path)];
      const end = await this.run(checker.language, args, { timeout_ms: checkMs }, context);
      return end.exit_code === 0 ? undefined : end.stderr.trim();
    } catch (error) {
      // The file is written all the same.
      if (error instanceof ToolError) return undefined;
      throw error;
    }
  }
}

const parsePython = "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1])";
const checkers: readonly { files: RegExp; language: Language; args: readonly string[] }[] = [
  { files: /\.py$/, language: "python", args: ["-c", parsePython] },
  { files: /\.[cm]?js$/, language: "node", args: ["--check"] },
  { files: /\.sh$/, language: "bash", args: ["-n"] },
];

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function codeReply({ ended, exit_code = 0, ...end }: ProgramEnd): CodeReply {
  if (exit_code === 0) return { ...end, exit_code, status: "completed" };
  const denied = deniedIn(`${end.stderr}\n${end.stdout}`);
  const reason = denied ?? { code: "SCRIPT_FAILED", message: `The program ended ${ended}.` };
  return { ...end, exit_code, status: "failed", reason };
}

const noNetwork =
  /Network is unreachable|ENETUNREACH|EAI_AGAIN|ENOTFOUND|name resolution|Could not resolve host/;
const readOnly = /Read-only file system|EROFS/;
const notThere = /(?:no such file or directory|ENOENT)/i;
/** An absolute path that the sandbox does not show. */
const hidden =
  /(?:^|[\s'"`])(\/(?!(?:workspace|tmp|usr|bin|sbin|lib\d*|proc|dev|run)(?:[/\s'"`:]|$))[^\s'"`:,]+)/;

/** What a program that failed wanted and the sandbox does not have. */
function deniedIn(output: string): Reason | undefined {
  if (noNetwork.test(output)) {
    return { code: "URL_DENIED", message: "The program asked for the network, and the sandbox has none." };
  }
  if (readOnly.test(output)) {
    return { code: "PATH_DENIED", message: `The program may only write to ${inside} and /tmp.` };
  }
  const path = output
    .split("\n")
    .filter((line) => notThere.test(line))
    .map((line) => hidden.exec(line)?.[1])
    .find((found) => found !== undefined);
  if (path === undefined) return undefined;
  const message = `The program asked for ${path}; of the host's files it sees only the workspace, as ${inside}.`;
  return { code: "PATH_DENIED", message };
}

/** Throws when nothing was judged. */
function judge(
  runner: Runner,
  { ended, ...end }: ProgramEnd,
  tests: readonly TestResult[] | undefined,
  folder: string,
): { tests: readonly TestResult[]; reply: Omit<TestReply, "ctrf"> } {
  const { exit_code } = end;
  if (tests === undefined || exit_code === undefined) {
    if (runner === "pytest" && /No module named pytest/.test(end.stderr))
      throw notInstalled("pytest", "pip install pytest", folder);
    checkEnd({ ended, ...end });
    const message = `${runner} ended ${ended} without its results.`;
    throw new ToolError("TOOL_FAILED", message, "A test or its setup ended the runner: see its output.", end);
  }
  const count = (status: TestResult["status"]) => tests.filter((test) => test.status === status).length;
  const summary = {
    tests: tests.length,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
  };
  if (summary.passed + summary.failed === 0) {
    const message = `${runner} ended ${ended}, and no test ran.`;
    throw new ToolError(
      "NOTHING_VERIFIED",
      message,
      "Look at its output, and at the args that choose tests.",
      {
        ...summary,
        ...end,
      },
    );
  }
  const failed = tests.filter(({ status }) => status === "failed");
  const passed = exit_code === 0 && failed.length === 0;
  const reply: Omit<TestReply, "ctrf"> = {
    ...end,
    exit_code,
    status: passed ? "passed" : "failed",
    ...(!passed &&
      failed.length === 0 && {
        reason: { code: "SCRIPT_FAILED", message: `${runner} ended ${ended}, although no test failed.` },
      }),
    summary,
    failed_tests: failed.slice(0, mostFailed).map(({ name, suite, message = "" }) => ({
      name,
      suite,
      message: message.slice(0, messageCharacters),
    })),
    more: Math.max(0, failed.length - mostFailed),
  };
  return { tests, reply };
}
