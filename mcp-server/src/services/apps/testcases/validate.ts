import { nearest } from "@labwright/controllers";
import type { Action, Block, Params, TestCase, TestCaseInput, Verification } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type {
  ActionExecutor,
  OfferingDevice,
  ScriptPort,
  Secrets,
  VerificationExecutor,
} from "../../ports.ts";
import { unsafeNumbers } from "../../values/exactNumbers.ts";
import { compileExpression } from "../../values/expressions.ts";
import { placeholdersIn } from "../../values/placeholders.ts";
import { withExactNumbers } from "../../values/values.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { requestProblems } from "./api/problems.ts";
import type { SchemaChecker } from "./api/schemaChecker.ts";
import { allBlocks, graphProblems } from "./graph.ts";
import { problemsError } from "./problems.ts";
import { referenceProblems } from "./references.ts";
import { listedRowProblems } from "./rows.ts";
import { startOf } from "./startOf.ts";
import type { Problem } from "./types.ts";
import { withTypes } from "./valueTypes.ts";

/** How deep test cases may call each other. */
export const maxCallDepth = 5;

export type ValidationPorts = {
  actions: ActionExecutor;
  verifications: VerificationExecutor;
  secrets: Secrets;
  schemas: Pick<SchemaChecker, "check">;
  scripts: Pick<ScriptPort, "find">;
  findTestcase(ref: string): Promise<TestCaseInput | undefined>;
  testcaseNames(): Promise<string[]>;
  /** Throws USERINTERFACE_NOT_FOUND. */
  app(userinterface: string): Promise<AppView>;
};

/**
 * What a test case is checked against; what is left out is not checked, but a run needs an app to navigate in. The app
 * `overrides` those of called test cases when it was given at execution.
 */
export type Against = {
  device?: OfferingDevice | undefined;
  app?: AppView | undefined;
  overrides?: boolean;
  toRun?: boolean;
  /** It is loaded with others, which a secret that only it needs must not stop. */
  toLoad?: boolean;
  /** Whether it starts fresh, when that was given at execution. */
  fresh?: boolean | undefined;
};

export const withoutApp = "a navigation needs an app; give userinterface_name";

/** Test cases that a run will call, by the name or id in the block that calls them, and its set-up test by name. */
export type Called = ReadonlyMap<string, TestCaseInput>;

/** Throws everything that is wrong in one error; else returns the test cases that it calls, deeper ones included. */
export async function validate(
  testcase: TestCaseInput,
  against: Against,
  ports: ValidationPorts,
): Promise<Called> {
  const { called, problems } = await look(testcase, against, ports);
  if (problems.length > 0) throw problemsError(testcase.name, problems);
  return called;
}

/** Everything that is wrong, and the test cases that it calls. */
export async function look(
  testcase: TestCaseInput,
  against: Against,
  ports: ValidationPorts,
): Promise<{ called: Called; problems: Problem[] }> {
  const called = new Map<string, TestCaseInput>();
  const problems = [
    ...(await ownProblems(testcase, against, ports)),
    ...(await callProblems(testcase, [testcase.name], called, ports)),
    ...(await startProblems(testcase, against, called, ports)),
  ];
  for (const other of new Set(called.values())) {
    const found = await calledProblems(other, against, ports);
    problems.push(...found.map((problem) => ({ ...problem, path: join(other.name, problem.path) })));
  }
  return { called, problems };
}

/** Finds a start that contradicts itself, and a set-up test that is not there; fills `called` with that and its calls. */
async function startProblems(
  testcase: TestCaseInput,
  { app, fresh }: Against,
  called: Map<string, TestCaseInput>,
  ports: ValidationPorts,
): Promise<Problem[]> {
  const problem = (path: string, code: string, message: string): Problem => ({ path, code, message });
  const { storage_state, setup: own } = testcase;
  if (storage_state !== undefined && own !== undefined)
    return [problem("setup", "TESTCASE_INVALID", "give storage_state or setup, not both")];
  if (testcase.fresh === false && (storage_state ?? own) !== undefined)
    return [
      problem("fresh", "TESTCASE_INVALID", "storage_state and setup need a fresh start; leave fresh out"),
    ];
  const { setup } = startOf(testcase, app, fresh);
  if (setup === undefined) return [];
  const other = await ports.findTestcase(setup);
  if (!other) return [problem("setup", "TESTCASE_NOT_FOUND", await notThere(setup, ports))];
  const found = callRefusals(other, {}, [testcase.name]).map((refusal) => ({ ...refusal, path: "setup" }));
  called.set(setup, other);
  return [...found, ...(await callProblems(other, [testcase.name, other.name], called, ports))];
}

/** A called test case runs on the app given at execution, else on its own, else on its caller's. */
async function calledProblems(
  other: TestCaseInput,
  against: Against,
  ports: ValidationPorts,
): Promise<Problem[]> {
  const own = other.userinterface_name;
  const inherits = own === undefined || own === against.app?.name || against.overrides === true;
  try {
    const app = inherits ? against.app : await ports.app(own);
    return await ownProblems(other, { ...against, app }, ports, false);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "USERINTERFACE_NOT_FOUND") throw error;
    return [{ path: "userinterface_name", code: error.code, message: `${error.message} ${error.hint}` }];
  }
}

const join = (name: string, path: string) => (path === "" ? name : `${name}/${path}`);

async function ownProblems(
  testcase: TestCaseInput,
  { device, app, toRun, toLoad }: Against,
  ports: ValidationPorts,
  mustCheck = true,
): Promise<Problem[]> {
  const blocks = allBlocks(testcase);
  const problems = [...graphProblems(testcase), ...(await referenceProblems(testcase, app?.variables ?? {}))];
  problems.push(...secretProblems(testcase, { toRun, toLoad }, ports));
  problems.push(...dataProblems(testcase));
  if (mustCheck && !(await canCheck(blocks.map(({ block }) => block)))) {
    const message =
      "the test checks nothing; add a verification, a navigation, an api_request with checks, or a condition on its output";
    problems.push({ path: "", code: "EMPTY_TEST", message });
  }
  for (const { block, path } of blocks) {
    if (device) problems.push(...commandProblems(block, path, device, ports));
    if (block.type === "navigation")
      problems.push(...targetProblems(block.target, path, app, toRun === true));
    if (block.type === "script") problems.push(...(await scriptProblems(block.script, path, ports)));
    if (block.type === "api_request") problems.push(...(await requestProblems(block, path, ports.schemas)));
  }
  return problems;
}

function secretProblems(
  testcase: TestCaseInput,
  { toRun, toLoad }: { toRun: boolean | undefined; toLoad: boolean | undefined },
  { secrets }: ValidationPorts,
): Problem[] {
  if (toLoad === true) return [];
  return attempt("", () => (toRun === true ? secrets.check(testcase) : secrets.checkNames(testcase)));
}

/** Defaults that are not of their type, and rows that do not fit the inputs. */
function dataProblems(testcase: TestCaseInput): Problem[] {
  const defaults = testcase.inputs.flatMap(({ name, default: value }) =>
    value === undefined || value === null ? [] : [[name, value]],
  );
  const { problems } = withTypes(withExactNumbers(Object.fromEntries(defaults)), testcase.types ?? {});
  return [
    ...problems.map(([name, problem]) => ({ path: `inputs.${name}`, problem })),
    ...listedRowProblems(testcase).map((problem) => ({ path: "for_each", problem })),
    ...lostDigits(testcase).map((problem) => ({ path: "", problem })),
  ].map(({ path, problem }) => ({ path, code: "INVALID_INPUT", message: problem }));
}

/** Whoever reads JSON into doubles has changed such a number before it came here. */
const lostDigits = (value: unknown): string[] =>
  unsafeNumbers(value).map(
    (number) =>
      `${number} is beyond what JSON numbers of a call keep exactly; write its digits as "{{9007199254740993}}"`,
  );

async function canCheck(blocks: readonly Block[]): Promise<boolean> {
  const checks = (block: Block) => {
    if (block.type === "api_request") return block.expect_status !== undefined || block.checks.length > 0;
    if (block.type === "action") return block.params?.expect_status !== undefined;
    return ["verification", "navigation", "call_testcase", "script"].includes(block.type);
  };
  return blocks.some(checks) || (await judgesAnswer(blocks));
}

/** Whether a condition reads the output of a request. */
async function judgesAnswer(blocks: readonly Block[]): Promise<boolean> {
  const requests = blocks.flatMap(({ type, id }) => (type === "api_request" ? [id] : []));
  if (requests.length === 0) return false;
  for (const block of blocks) {
    if (block.type !== "condition") continue;
    // One that cannot be read is a problem of its own.
    const { names } = await compileExpression(block.expression).catch(() => ({ names: [] }));
    if (names.some((name) => requests.includes(name))) return true;
  }
  return false;
}

async function scriptProblems(
  script: string,
  path: string,
  { scripts }: ValidationPorts,
): Promise<Problem[]> {
  try {
    await scripts.find(script);
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [{ path, code: error.code, message: `${error.message} ${error.hint}` }];
  }
}

function attempt(path: string, check: () => void): Problem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const message = error.code === "ACTION_NOT_FOUND" ? `${error.message} ${error.hint}` : error.message;
    return [{ path, code: error.code, message: message.replaceAll(/\b(actions|checks)\[0\]\./g, "") }];
  }
}

function commandProblems(
  block: Block,
  path: string,
  device: OfferingDevice,
  ports: ValidationPorts,
): Problem[] {
  if (block.type === "verification") {
    return attempt(path, () => ports.verifications.validate(device, [checkOf(block)]));
  }
  if (block.type !== "action") return [];
  return [actionOf(block), ...block.retry_actions, ...block.failure_actions].flatMap((action) =>
    attempt(path, () => ports.actions.validate(device, [action])),
  );
}

/** The action of a block, its placeholders not filled in. */
export function actionOf(block: Extract<Block, { type: "action" }>): Action {
  const { command, params, action_type, iterator } = block;
  return { command, params, ...(action_type && { action_type }), ...(iterator && { iterator }) };
}

/** The check of a block, its placeholders not filled in. */
export function checkOf(block: Extract<Block, { type: "verification" }>): Verification {
  const { command, params, verification_type: type, negate, timeout_ms } = block;
  return {
    command,
    params,
    ...(type && { type }),
    ...(negate !== undefined && { negate }),
    ...(timeout_ms !== undefined && { timeout_ms }),
  };
}

function targetProblems(target: string, path: string, app: AppView | undefined, toRun: boolean): Problem[] {
  if (!app) return toRun ? [{ path, code: "USERINTERFACE_NOT_FOUND", message: withoutApp }] : [];
  if (placeholdersIn(target).length > 0) return [];
  if (app.nodes.some(({ id, label }) => id === target || label === target)) return [];
  const near = nearest(
    target,
    app.nodes.map(({ label }) => label),
    3,
  );
  const hint = near.length > 0 ? `; did you mean ${near.map((label) => `"${label}"`).join(", ")}?` : "";
  return [{ path, code: "NODE_NOT_FOUND", message: `${app.name} has no node "${target}"${hint}` }];
}

/** Fills `called`, and finds calls of what is not there, of itself, too deep, or with wrong inputs. */
async function callProblems(
  testcase: TestCaseInput,
  chain: readonly string[],
  called: Map<string, TestCaseInput>,
  ports: ValidationPorts,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { block, path } of allBlocks(testcase)) {
    if (block.type !== "call_testcase") continue;
    const at = [...chain.slice(1), path].join("/");
    const before = called.get(block.testcase);
    const other = before ?? (await ports.findTestcase(block.testcase));
    if (!other) {
      problems.push({ path: at, code: "TESTCASE_NOT_FOUND", message: await notThere(block.testcase, ports) });
      continue;
    }
    const found = callRefusals(other, block.inputs, chain);
    problems.push(...found.map((problem) => ({ ...problem, path: at })));
    called.set(block.testcase, other);
    // What it calls was looked at already; the run itself bounds the depth of another way to it.
    const goesDeeper = !before && found.every(({ code }) => code !== "TESTCASE_INVALID");
    if (goesDeeper) problems.push(...(await callProblems(other, [...chain, other.name], called, ports)));
  }
  return problems;
}

async function notThere(name: string, ports: ValidationPorts): Promise<string> {
  const near = nearest(name, await ports.testcaseNames(), 3);
  return `there is no test case "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`;
}

function callRefusals(
  other: TestCaseInput,
  inputs: Params,
  chain: readonly string[],
): Omit<Problem, "path">[] {
  if (chain.includes(other.name)) {
    const message = `${[...chain, other.name].join(" calls ")}: a test case cannot call itself`;
    return [{ code: "TESTCASE_INVALID", message }];
  }
  if (chain.length > maxCallDepth) {
    return [
      { code: "TESTCASE_INVALID", message: `test cases call each other more than ${maxCallDepth} deep` },
    ];
  }
  return inputProblemsOf(other, inputs).map((message) => ({ code: "INVALID_INPUT", message }));
}

/** What is wrong with the inputs given to a test case, one line each. */
export function inputProblemsOf(testcase: TestCaseInput, given: Params): string[] {
  const names = testcase.inputs.map(({ name }) => name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const missing = testcase.inputs.filter(
    ({ name, required, default: fallback }) =>
      required && fallback === undefined && !Object.hasOwn(given, name),
  );
  // What holds a placeholder has no value yet; it is judged when it has.
  const filled = Object.entries(given).filter(([, value]) => placeholdersIn(value).length === 0);
  const { problems } = withTypes(withExactNumbers(Object.fromEntries(filled)), testcase.types ?? {});
  return [
    ...lostDigits(given),
    ...problems.map(([name, problem]) => `the input "${name}" of ${testcase.name}: ${problem}`),
    ...unknown.map((name) => {
      const [near] = nearest(name, names, 1);
      return `${testcase.name} has no input "${name}"${near ? `; did you mean "${near}"?` : ""}`;
    }),
    ...missing.map(({ name }) => `${testcase.name} needs the input "${name}"`),
  ];
}

/** Plain content of a saved test case, as it was given. */
export function contentOf({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  source: _source,
  ...content
}: TestCase): TestCaseInput {
  return content;
}
