import type { TestCaseInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { appNameOf, type Language, writeTest } from "../steps/index.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { parseGiven, testNameOf } from "./parse.ts";
import { problemsError } from "./problems.ts";
import type { ImportOptions, ListedProblem, Problem, TestcaseDependencies } from "./types.ts";

type Dependencies = Pick<TestcaseDependencies, "apps" | "verbs">;
type Within = Pick<ImportOptions, "apps" | "tx">;

/** Reads and writes test cases in the form that their authors use, by the nodes of their apps. */
export class GivenTests {
  constructor(private readonly deps: Dependencies) {}

  /** A test case in either form with the app that it names, or what is wrong with its shape. `names` are of all test cases. */
  async read(given: unknown, names: readonly string[], within: Within = {}) {
    const app = await this.appOf(appNameOf(given), within);
    if (app && "problem" in app) return { problems: [app.problem] };
    const read = parseGiven(given, this.languageOf(app, names));
    return "testcase" in read ? { ...read, app } : read;
  }

  /** In steps where it is a sequence. */
  async write(testcase: TestCaseInput, names: readonly string[], within: Within = {}) {
    const app = await this.appOf(testcase.userinterface_name, within);
    return writeTest(testcase, this.languageOf(app && "problem" in app ? undefined : app, names));
  }

  private languageOf(app: AppView | undefined, testcases: readonly string[]): Language {
    const vocabulary = { places: app?.nodes ?? [], testcases, commands: undefined, checks: undefined };
    return { vocabulary, verbs: this.deps.verbs() };
  }

  /** The app that a test case names; one that is not there is a problem of the test case. */
  private async appOf(
    name: string | undefined,
    { apps = [], tx }: Within,
  ): Promise<AppView | { problem: Problem } | undefined> {
    if (name === undefined) return undefined;
    const given = apps.find((app) => app.name === name);
    if (given) return given;
    try {
      return await this.deps.apps.describe(name, tx);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "USERINTERFACE_NOT_FOUND") throw error;
      const message = `${error.message} ${error.hint}`;
      return { problem: { path: "userinterface_name", code: error.code, message } };
    }
  }
}

/** The error of a list that cannot be imported. */
export function refusalOf(
  problems: readonly ListedProblem[],
  list: readonly unknown[],
  { refuse }: ImportOptions,
): ToolError {
  const first = problems[0]?.index;
  const name = first === undefined ? "the test cases" : testNameOf(list[first]);
  return (
    refuse?.(problems) ??
    problemsError(
      name,
      problems.filter(({ index }) => index === first),
    )
  );
}
