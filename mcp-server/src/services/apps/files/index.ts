import type { Params, Step } from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { executionRows } from "../../../storage/rows/executionRows.ts";
import { testcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import { projectInUse } from "../../records/inUse.ts";
import type { ListedProblem } from "../testcases/index.ts";
import { appView } from "../userinterfaces/index.ts";
import { type Examination, examineFiles, type FileText, type Finding } from "./examine.ts";
import { exportYaml, testYaml } from "./exportYaml.ts";
import { giveOnlyApp, newApp, readYaml } from "./importYaml.ts";
import { FileKeeper } from "./keepFiles.ts";
import { type LoadReport, type ProjectLoad, ProjectLoader } from "./loadProject.ts";
import { problemsIn, refuseTests } from "./problems.ts";
import { shortForm } from "./shortForm.ts";
import type { AppFilesDependencies } from "./types.ts";

export type { AppFilesDependencies };

/** What was imported. The app's part is left out for a file of tests alone. */
export type ImportReport = {
  id?: string;
  name?: string;
  replaced?: boolean;
  trees?: number;
  nodes?: number;
  edges?: number;
  testcases: number;
  names: string[];
  /** Left out if the file says nothing of references; the app keeps its references then. */
  references?: number;
};

export { testYaml } from "./exportYaml.ts";
export { fileNameOf } from "./projectFiles.ts";
export { shortForm } from "./shortForm.ts";

/** Apps and tests as YAML: models, test cases and references. */
export type AppFiles = ReturnType<typeof createAppFiles>;

/** The steps of the last run of a test in this project, whatever build it was of. */
async function lastSteps(db: Database, name: string): Promise<Step[]> {
  const rows = executionRows(db);
  const last = await rows.lastRun({ name, project: projectInUse(), build: { any: true } });
  return last ? rows.steps(last.id) : [];
}

export function createAppFiles(deps: AppFilesDependencies) {
  const keeper = new FileKeeper(deps);
  deps.userinterfaces.keepSources((tx, source) => keeper.keep(tx, source));
  deps.testcases.keepSources((tx, test) => keeper.keepTest(tx, test));
  deps.references.keepSources((tx, userinterfaceId) => keeper.keepApp(tx, userinterfaceId));
  const loader = new ProjectLoader(deps);
  return {
    ...transfer(deps),
    /** Loads what changed of a project's files and archives what they no longer hold, all or nothing. Throws every problem of every file. */
    load: (project: ProjectLoad): Promise<LoadReport> => loader.load(project),
    /** Notes that an app and its tests are kept in a file, as `exportYaml` writes it. */
    async keepIn(
      userinterface: string,
      { project, file, hash }: { project: string; file: string; hash: string },
    ): Promise<void> {
      const { ui, source } = await deps.userinterfaces.load(userinterface);
      if (source.file !== null) return;
      const tests = await testcaseRows(deps.db).list({ name: ui.name, project: source.project });
      const kept = { project, file, file_hash: hash };
      await deps.db.transaction(async (tx) => {
        await userinterfaceRows(tx).setSource(ui.id, kept);
        await userinterfaceRows(tx).touch(ui.id, new Date(deps.clock.now()).toISOString());
        for (const { id } of tests) await testcaseRows(tx).setSource(id, kept);
      });
    },
  };
}

type WrittenStep = {
  command: string;
  params: Params;
  negate?: boolean | undefined;
  timeout_ms?: number | undefined;
};

/** A step as a file has it; `go` names its node without a key. */
function writtenStep({ command, params, negate, timeout_ms }: WrittenStep): Record<string, unknown> {
  const step = command === "go" ? { go: params.node } : { [command]: params };
  return { ...(negate === true ? { not: step } : step), ...(timeout_ms !== undefined && { timeout_ms }) };
}

const transfer = ({ db, userinterfaces, testcases, references, verbs }: AppFilesDependencies) => ({
  /** A test of these commands and checks as YAML in the short form. It may be one that cannot pass, such as one without checks. */
  testOf(name: string, steps: readonly WrittenStep[]): string {
    return testYaml(shortForm({ name, steps: steps.map(writtenStep) }, verbs()));
  },

  /** `schema` is where an editor finds the JSON Schema. Throws USERINTERFACE_NOT_FOUND, and INPUT_TOO_LARGE. */
  async exportYaml(userinterface: string, schema?: string): Promise<string> {
    const model = await userinterfaces.load(userinterface);
    const kept = await references.exportFor(model.ui.id);
    const tests = await testcases.exportFor(appView(model));
    return exportYaml(model, { tests, references: kept }, { verbs: verbs(), schema });
  },
  /** An app, or tests alone, or a feature by the name of its `file`; all or nothing. Throws every problem with its place, and ALREADY_EXISTS for an app or test that it would change, unless `replace`. */
  async importYaml(text: string, replace: boolean, file?: string): Promise<ImportReport> {
    const read = readYaml({ verbs: verbs(), file, problems: await problemsIn(text, file) });
    const tests = read.tests.map(({ value }) => value);
    const placed = read.tests.map(({ path }) => ({ path, read }));
    const refuse = (problems: readonly ListedProblem[]) => refuseTests(placed, problems);
    if (!read.model) {
      const { names } = await testcases.importAll(tests, { refuse, replace });
      return { testcases: names.length, names };
    }
    const first = read.model;
    const names: string[] = [];
    const app = newApp(first, { verbs: verbs(), file, problems: read.problems });
    const [stored] = await userinterfaces.put([app], {
      replace,
      async storeWith(tx, models) {
        const apps = models.map(appView);
        if (tests.length > 0)
          names.push(...(await testcases.importAll(tests, { tx, apps, refuse, replace })).names);
        const [{ ui } = first] = models;
        if (read.references) await references.importAll(read.references, { tx, userinterfaceId: ui.id });
      },
    });
    await references.removeOrphans();
    const { model, replaced } = stored ?? { model: first, replaced: false };
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
  /**
   * The tests of a feature's text in the short form that `save_testcase` takes, none if something is wrong, and what is wrong or
   * weak. `app` is for a feature that names none. Stores nothing.
   */
  async readFeature(text: string, app?: string): Promise<{ tests: unknown[]; findings: Finding[] }> {
    const file = "gherkin.feature";
    const examining = { verbs: verbs(), testcases, lastSteps: async () => [], app };
    const { findings } = await examineFiles([{ file, yaml: text }], examining);
    if (findings.some(({ weak }) => !weak)) return { tests: [], findings };
    const read = readYaml({ verbs: verbs(), file, problems: await problemsIn(text, file) });
    giveOnlyApp([{ ...read, file }], app === undefined ? [] : [app]);
    return { tests: read.tests.map(({ value }) => value), findings };
  },
  /** What is wrong or weak in files that belong together. Stores nothing. */
  examine: (files: readonly FileText[]): Promise<Examination> =>
    examineFiles(files, { verbs: verbs(), testcases, lastSteps: (test) => lastSteps(db, test) }),
});
