import type { TestCaseInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { appNameOf, type Language, noNames, writeTest } from "../steps/index.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { parseGiven, problemOf } from "./parse.ts";
import type { Problem, TestcaseDependencies, Within } from "./types.ts";

type Dependencies = Pick<TestcaseDependencies, "apps" | "verbs">;

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

  async write(testcase: TestCaseInput, names: readonly string[], within: Within = {}) {
    const app = await this.appOf(testcase.userinterface_name, within);
    return writeTest(testcase, this.languageOf(app && "problem" in app ? undefined : app, names));
  }

  private languageOf(app: AppView | undefined, testcases: readonly string[]): Language {
    // Tests of several projects may have one name.
    const names = [...new Set(testcases)];
    return {
      vocabulary: { ...noNames, places: app?.nodes ?? [], testcases: names },
      verbs: this.deps.verbs(),
    };
  }

  /** The app that a test case names; one that is not there is a problem of the test case. */
  private async appOf(
    name: string | undefined,
    { apps = [], tx }: Within,
  ): Promise<AppView | { problem: Problem } | undefined> {
    if (name === undefined) return undefined;
    const known = apps.find((app) => app.name === name);
    if (known) return known;
    try {
      return await this.deps.apps.describe(name, tx);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "USERINTERFACE_NOT_FOUND") throw error;
      return { problem: problemOf(error, "userinterface_name") };
    }
  }
}
