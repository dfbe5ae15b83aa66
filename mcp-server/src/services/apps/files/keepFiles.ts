import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isFeature } from "../../../config/places.ts";
import type { Params, Source, TestCase } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { holdFile } from "../../../storage/rows/sourceRows.ts";
import { testcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import { inProject } from "../../records/inUse.ts";
import { allBlocks, contentOf } from "../testcases/index.ts";
import { type AppView, appView } from "../userinterfaces/index.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { appDocument, testsDocument, testYaml, yamlText } from "./exportYaml.ts";
import { type FileRead, readYaml } from "./importYaml.ts";
import { sortedTest } from "./layOut.ts";
import { inOrderOf, mergeYaml, rewrittenYaml } from "./mergeYaml.ts";
import { problemsIn } from "./problems.ts";
import { fileNameOf, hashOf, readKnown, writeProjectFile } from "./projectFiles.ts";
import type { AppFilesDependencies } from "./types.ts";

/** New tests of a project get files here. */
const testFolder = "labwright/tests";

/** Writes what tools save of a project into its files, within the transaction. */
export class FileKeeper {
  constructor(private readonly deps: AppFilesDependencies) {}

  /** Makes the file say what is stored. Throws FILE_CHANGED, and PROTECTED if the file would be empty. */
  keep(tx: Database, { project, file }: Pick<Source, "project" | "file">): Promise<void> {
    return inProject(project, async () => {
      if (file === null) return;
      await holdFile(tx, { project, file });
      if (isFeature(file)) throw onlyRead(project, file);
      const held = await heldBy(tx, project, file);
      if (held.app === undefined && held.tests.length === 0) throw wholeFile(project, file);
      const text = await readKnown(project, file, held.hash);
      const written = await this.written(text, { file, held, tx });
      if (written === text) return;
      await writeProjectFile(project, file, written);
      await setHash(tx, { project, file, file_hash: hashOf(written) });
    });
  }

  /** The new text of the file; what is the same stays as its author wrote it. */
  private async written(
    text: string,
    { file, held, tx }: { file: string; held: Held; tx: Database },
  ): Promise<string> {
    const verbs = this.deps.verbs();
    const read = readYaml({ verbs, file, problems: await problemsIn(text, file) });
    const known = [...(read.model ? appView(read.model).nodes : []), ...held.tests.flatMap(targetsOf)];
    const said = (one: FileRead) => this.documentOf(one, tx, known).catch(() => undefined);
    const before = await said(read);
    const after = await this.storedDocument(read, held, { tx, before, known });
    if (isDeepStrictEqual(before, after)) return text;
    const merged = before && mergeYaml(text, before, after);
    const says = merged && (await said(readYaml({ verbs, file, problems: await problemsIn(merged, file) })));
    // A file that cannot be merged is written again as a whole.
    return merged && isDeepStrictEqual(says, after) ? merged : rewrittenYaml(text, yamlText(after));
  }

  /** Like {@link keep}; a test case without a file gets one. */
  async keepTest(
    tx: Database,
    { id, name, source }: { id: string; name: string; source: Source },
  ): Promise<void> {
    if (source.file !== null) return this.keep(tx, source);
    const { project } = source;
    const own = (await testcaseRows(tx).ofProject(project)).find((test) => test.id === id);
    if (!own) return;
    await inProject(project, async () => {
      const [test = {}] = await this.deps.testcases.written([contentOf(own)], { tx });
      const file = freeFile(project, name);
      const text = testYaml(test);
      await writeProjectFile(project, file, text);
      await testcaseRows(tx).setSource(id, { project, file, file_hash: hashOf(text) });
    });
  }

  async keepApp(tx: Database, userinterfaceId: string): Promise<void> {
    const [row] = await userinterfaceRows(tx).named(userinterfaceId);
    if (row) await this.keep(tx, row);
  }

  private async documentOf(
    { kind, app, model, tests, references = [] }: FileRead,
    tx: Database,
    known: AppView["nodes"],
  ): Promise<Params> {
    const given = tests.map(({ value }) => value);
    const written = await this.deps.testcases.written(given, { tx, app: viewOf(model, known) });
    if (kind === "app" && model) return appDocument(model, { tests: written, references }, this.deps.verbs());
    return kind === "tests" ? testsDocument(app, written) : sortedTest(written[0] ?? {});
  }

  private async storedDocument(
    { kind, app }: FileRead,
    { app: appId, tests }: Held,
    { tx, before = {}, known }: { tx: Database; before: Params | undefined; known: AppView["nodes"] },
  ): Promise<Params> {
    const model = appId === undefined ? undefined : await this.deps.userinterfaces.loadWithin(tx, appId);
    const given = tests.map((test) => contentOf(test));
    const written = await this.deps.testcases.written(given, { tx, app: viewOf(model, known) });
    const ordered = inOrderOf(listIn(before.tests).map(nameOf), written, nameOf);
    if (kind === "app" && model) {
      const all = await this.deps.references.exportFor(model.ui.id, tx);
      const references = inOrderOf(listIn(before.references).map(referenceKey), all, referenceKey);
      return appDocument(model, { tests: ordered, references }, this.deps.verbs());
    }
    return kind === "tests" || ordered.length !== 1
      ? testsDocument(app, ordered)
      : sortedTest(ordered[0] ?? {});
  }
}

/** Nodes that a test case goes to. They may have another label by now. */
const targetsOf = (test: TestCase): AppView["nodes"] =>
  allBlocks(test).flatMap(({ block }) =>
    block.type === "navigation"
      ? [{ id: block.target, label: block.target, verifications: [], pass_condition: "all" as const }]
      : [],
  );

function viewOf(model: AppModel | undefined, known: AppView["nodes"]): AppView | undefined {
  const view = model && appView(model);
  // A label that occurs twice would be ambiguous.
  const nodes = new Map([...known, ...(view?.nodes ?? [])].map((node) => [node.label, node]));
  return view && { ...view, nodes: [...nodes.values()] };
}

const nameOf = ({ name }: { name?: unknown }) => String(name);
const referenceKey = ({ name, device_model }: { name?: unknown; device_model?: unknown }) =>
  JSON.stringify([device_model, name]);
const listIn = (value: unknown): Params[] => (Array.isArray(value) ? value : []);

type Held = { app: string | undefined; tests: readonly TestCase[]; hash: string | null };

async function heldBy(tx: Database, project: string, file: string): Promise<Held> {
  const app = (await userinterfaceRows(tx).ofProject(project)).find((row) => row.file === file);
  const tests = (await testcaseRows(tx).ofProject(project)).filter(({ source }) => source.file === file);
  return { app: app?.id, tests, hash: app?.file_hash ?? tests[0]?.source.file_hash ?? null };
}

async function setHash(tx: Database, source: Source): Promise<void> {
  await userinterfaceRows(tx).setHash(source);
  await testcaseRows(tx).setHash(source);
}

function freeFile(project: string, name: string): string {
  const slug = fileNameOf(name) || "test";
  for (let nth = 1; ; nth++) {
    const file = `${testFolder}/${slug}${nth > 1 ? `-${nth}` : ""}.yaml`;
    if (!existsSync(join(project, file))) return file;
  }
}

const onlyRead = (project: string, file: string) =>
  new ToolError(
    "PROTECTED",
    `${file} of ${project} is a Gherkin feature, which Labwright reads and never writes; nothing was saved.`,
    "Change the scenario in that file; the next run or import loads it. Or save the test under another name.",
  );

const wholeFile = (project: string, file: string) =>
  new ToolError(
    "PROTECTED",
    `It is all that ${file} of ${project} holds, and a tool deletes no file of yours.`,
    "Delete that file; the next run or import of its folder archives what it held.",
  );
