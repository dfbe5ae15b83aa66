import type { ToolError } from "../../../errors.ts";
import type { ReferenceService } from "../../devices/references/index.ts";
import type { Verbs } from "../steps/index.ts";
import { codeOf, type ListedProblem, type TestcaseService } from "../testcases/index.ts";
import { appView, type UserInterfaceService } from "../userinterfaces/index.ts";
import { type Examination, examineFiles, type FileText } from "./examine.ts";
import { exportYaml } from "./exportYaml.ts";
import { type FileRead, readYaml } from "./importYaml.ts";

/** What was imported. The app's part is left out for a file of tests alone. */
export type ImportReport = {
  id?: string;
  name?: string;
  replaced?: boolean;
  trees?: number;
  nodes?: number;
  edges?: number;
  testcases: number;
  /** Names of the test cases, in the order of the file. */
  names: string[];
  /** Left out where the file says nothing of references. The app keeps its references then. */
  references?: number;
};

export { testYaml } from "./exportYaml.ts";

/** Apps and tests as YAML: models, test cases and references. */
export type AppFiles = {
  /**
   * `schema` is where an editor finds the JSON Schema of the file; the text begins with the line for it. Throws
   * USERINTERFACE_NOT_FOUND, and INPUT_TOO_LARGE for an app whose file could not be imported again.
   */
  exportYaml(userinterface: string, schema?: string): Promise<string>;
  /**
   * An app, or tests alone; all or nothing. `file` is the name of the file. Throws INVALID_INPUT or what a test case is
   * refused with, with every problem and its line and column, and ALREADY_EXISTS for an app unless `replace`.
   */
  importYaml(text: string, replace: boolean, file?: string): Promise<ImportReport>;
  /** What is wrong or weak in files that belong together. Stores nothing. */
  examine(files: readonly FileText[]): Promise<Examination>;
};

export type AppFilesDependencies = {
  userinterfaces: Pick<UserInterfaceService, "load" | "put">;
  testcases: Pick<TestcaseService, "exportFor" | "importAll">;
  references: Pick<ReferenceService, "exportFor" | "importAll" | "removeOrphans">;
  verbs(): Verbs;
};

export const createAppFiles = ({
  userinterfaces,
  testcases,
  references,
  verbs,
}: AppFilesDependencies): AppFiles => ({
  async exportYaml(userinterface, schema) {
    const model = await userinterfaces.load(userinterface);
    const kept = await references.exportFor(model.ui.id);
    const tests = await testcases.exportFor(appView(model));
    return exportYaml(model, tests, kept, { verbs: verbs(), schema });
  },
  async importYaml(text, replace, file) {
    const read = readYaml(text, { verbs: verbs(), file });
    const tests = read.tests.map(({ value }) => value);
    const refuse = (problems: readonly ListedProblem[]) => refusalOf(read, problems);
    if (!read.model) {
      const { names } = await testcases.importAll(tests, { refuse });
      return { testcases: names.length, names };
    }
    const first = read.model;
    const names: string[] = [];
    const { model, replaced } = await userinterfaces.put(first.ui.name, {
      replace,
      make: (known) => (known && readYaml(text, { verbs: verbs(), file, known }).model) ?? first,
      async storeWith(tx, model, app) {
        if (tests.length > 0)
          names.push(...(await testcases.importAll(tests, { tx, apps: [app], refuse })).names);
        if (read.references)
          await references.importAll(read.references, { tx, userinterfaceId: model.ui.id });
      },
    });
    await references.removeOrphans();
    return {
      id: model.ui.id,
      name: model.ui.name,
      replaced,
      trees: model.trees.size,
      nodes: model.nodes.size,
      edges: model.edges.size,
      testcases: tests.length,
      names,
      ...(read.references && { references: read.references.length }),
    };
  },
  examine: (files) => examineFiles(files, { verbs: verbs(), testcases }),
});

/** The error of tests that are wrong, with the places where they are written. */
function refusalOf({ tests, problems }: FileRead, found: readonly ListedProblem[]): ToolError {
  for (const { index, at = [], path, message, key } of found) {
    const text = at.length > 0 || path === "" ? message : `${path}: ${message}`;
    problems.add([...(tests[index]?.path ?? []), ...at], text, key);
  }
  return problems.error(codeOf(found));
}
