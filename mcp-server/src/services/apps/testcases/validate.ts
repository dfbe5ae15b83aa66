import { nearest } from "@labwright/controllers";
import type {
  Action,
  ApiRequest,
  Block,
  Params,
  TestCase,
  TestCaseInput,
  Verification,
} from "../../../domain/index.ts";
import { didYouMean } from "../../../domain/schemaProblems.ts";
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
import { requestProblems } from "../apis/requests/problems.ts";
import type { SchemaChecker } from "../apis/requests/schemaChecker.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { startOf } from "./freshStart.ts";
import { allBlocks, graphProblems } from "./graph.ts";
import { problemOf, problemsError } from "./parse.ts";
import { referenceProblems } from "./references.ts";
import { listedRowProblems } from "./rows.ts";
import { withTypes } from "./scope.ts";
import type { Called, Problem } from "./types.ts";

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

/** Parts that are left out are not checked. With `overrides`, `app` also replaces the app of called test cases. */
export type Against = {
  device?: OfferingDevice | undefined;
  app?: AppView | undefined;
  overrides?: boolean;
  toRun?: boolean;
  /** Loaded with other tests: a missing secret of one must not stop all. */
  toLoad?: boolean;
  /** A plan may act only; it does not pass then. */
  mayCheckNothing?: boolean;
  /** Whether it starts fresh, when that was given at execution. */
  fresh?: boolean | undefined;
};

export const withoutApp = "a navigation needs an app; give userinterface_name";

/** Throws everything that is wrong in one error. Returns the test cases that it calls, at any depth. */
export async function validate(
  testcase: TestCaseInput,
  against: Against,
  ports: ValidationPorts,
): Promise<Called> {
  const { called, problems } = await inspect(testcase, against, ports);
  if (problems.length > 0) throw problemsError(testcase.name, problems);
  return called;
}

export async function inspect(
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

/** A contradictory start, or a missing set-up test. Fills `called` with the set-up test and its calls. */
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
    return [problemOf(error, "userinterface_name")];
  }
}

const join = (name: string, path: string) => (path === "" ? name : `${name}/${path}`);

async function ownProblems(
  testcase: TestCaseInput,
  { device, app, toRun, toLoad, mayCheckNothing }: Against,
  ports: ValidationPorts,
  mustCheck = mayCheckNothing !== true,
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
    if (block.type === "api_request") problems.push(...(await requestProblemsAt(path, block, ports)));
  }
  return problems;
}

const requestProblemsAt = async (path: string, block: ApiRequest, { schemas }: ValidationPorts) =>
  (await requestProblems(block, schemas)).map((message) => ({ path, code: "TESTCASE_INVALID", message }));

function secretProblems(
  testcase: TestCaseInput,
  { toRun, toLoad }: { toRun: boolean | undefined; toLoad: boolean | undefined },
  { secrets }: ValidationPorts,
): Problem[] {
  if (toLoad === true) return [];
  return attempt("", () => (toRun === true ? secrets.check(testcase) : secrets.checkNames(testcase)));
}

/** Defaults of a wrong type, and rows that do not fit the inputs. */
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

/** A reader of JSON doubles has already changed such a number. */
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

async function judgesAnswer(blocks: readonly Block[]): Promise<boolean> {
  const requests = blocks.flatMap(({ type, id }) => (type === "api_request" ? [id] : []));
  if (requests.length === 0) return false;
  for (const block of blocks) {
    if (block.type !== "condition") continue;
    // An invalid expression is reported elsewhere.
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
    return [problemOf(error, path)];
  }
}

function attempt(path: string, check: () => void): Problem[] {
  try {
    check();
    return [];
  } catch (error) {
    const withHint = error instanceof ToolError && error.code === "ACTION_NOT_FOUND";
    const problem = problemOf(error, path, { withHint });
    return [{ ...problem, message: problem.message.replaceAll(/\b(actions|checks)\[0\]\./g, "") }];
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

export function actionOf(block: Extract<Block, { type: "action" }>): Action {
  const { command, params, action_type, iterator } = block;
  return { command, params, ...(action_type && { action_type }), ...(iterator && { iterator }) };
}

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

/** Fills `called`. Finds calls of unknown tests, of itself, too deep, or with wrong inputs. */
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
    // Its calls were checked already. The run itself limits the depth of another way to it.
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

export function inputProblemsOf(testcase: TestCaseInput, given: Params): string[] {
  const names = testcase.inputs.map(({ name }) => name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const missing = testcase.inputs.filter(
    ({ name, required, default: fallback }) =>
      required && fallback === undefined && !Object.hasOwn(given, name),
  );
  // A value with a placeholder is checked when it is filled in.
  const filled = Object.entries(given).filter(([, value]) => placeholdersIn(value).length === 0);
  const { problems } = withTypes(withExactNumbers(Object.fromEntries(filled)), testcase.types ?? {});
  return [
    ...lostDigits(given),
    ...problems.map(([name, problem]) => `the input "${name}" of ${testcase.name}: ${problem}`),
    ...unknown.map((name) => `${testcase.name} has no input "${name}"${didYouMean(name, names)}`),
    ...missing.map(({ name }) => `${testcase.name} needs the input "${name}"`),
  ];
}

export function contentOf({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  source: _source,
  ...content
}: TestCase): TestCaseInput {
  return content;
}
