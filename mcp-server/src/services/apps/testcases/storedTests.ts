import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { nearest } from "@labwright/controllers";
import {
  type Block,
  databaseOnly,
  type Source,
  type TestCase,
  type TestCaseInput,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { SavedTest, TestcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { onlyNamed, projectInUse } from "../../records/inUse.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { allBlocks } from "./graph.ts";
import { parseTestcase } from "./parse.ts";
import type { ImportOptions, TestcaseDependencies, TestKeeper } from "./types.ts";
import { contentOf } from "./validate.ts";

type Checked = { testcase: TestCaseInput; app: AppView | undefined };

/** Test cases as they are stored: by name in the database or in their project, and in their files. */
export class StoredTests {
  private keeper: TestKeeper = async () => undefined;

  constructor(
    private readonly deps: Pick<TestcaseDependencies, "rows" | "rowsIn" | "transaction" | "clock">,
  ) {}

  keepSources(keeper: TestKeeper): void {
    this.keeper = keeper;
  }

  async find(ref: string, rows: TestcaseRows = this.deps.rows): Promise<TestCase | undefined> {
    const found = (await rows.named(ref)).map((testcase) => {
      const { id, source } = testcase;
      return { id, project: source.project, testcase };
    });
    return onlyNamed(found, { ref, what: "test case" })?.testcase;
  }

  async load(ref: string): Promise<TestCase> {
    const found = await this.find(ref);
    if (found) return found;
    const near = nearest(ref, await this.deps.rows.names(), 5);
    throw new ToolError(
      "TESTCASE_NOT_FOUND",
      `There is no test case "${ref}".`,
      near.length > 0
        ? `Did you mean ${near.map((name) => `"${name}"`).join(", ")}?`
        : "list_testcases shows all.",
      { nearest: near },
    );
  }

  /** Throws ALREADY_EXISTS instead of replacing another test that `replace` does not allow. */
  save(checked: Checked, replace: MayReplace): Promise<{ id: string; created: boolean }> {
    return this.deps.transaction(async (tx) => {
      const saved = await this.placed(checked, tx);
      const [id = saved.id] = await this.put([saved], replace, tx);
      await this.keep(tx, { ...saved, id });
      return { id, created: id === saved.id };
    });
  }

  /** Throws ALREADY_EXISTS even if `save` is false. Returns the id of what was saved. */
  create(checked: Checked, save: boolean): Promise<string | undefined> {
    return this.deps.transaction(async (tx) => {
      const saved = await this.placed(checked, tx);
      const { name } = saved.testcase;
      const rows = this.deps.rowsIn(tx);
      if (await besideIt(rows, saved)) throw nameTaken(name);
      if (!save) return undefined;
      const id = await rows.insert(saved, this.now());
      if (id === undefined) throw nameTaken(name);
      await this.keep(tx, { ...saved, id });
      return id;
    });
  }

  /** Throws ALREADY_EXISTS like {@link save}. Tests that were loaded from their files replace what is stored. */
  async saveAll(list: readonly Checked[], { tx, placeOf, replace = false }: ImportOptions): Promise<void> {
    const store = async (within: Database) => {
      if (placeOf) {
        for (const [index, { testcase }] of list.entries())
          await this.deps
            .rowsIn(within)
            .upsert({ id: randomUUID(), testcase, ...placeOf(index) }, this.now());
        return;
      }
      const all: SavedTest[] = [];
      for (const checked of list) all.push(await this.placed(checked, within));
      const ids = await this.put(all, () => replace, within);
      // Files are written when all is stored. What was loaded from a file is in it already.
      for (const [index, one] of all.entries()) await this.keep(within, { ...one, id: ids[index] ?? one.id });
    };
    await (tx ? store(tx) : this.deps.transaction(store));
  }

  /** Also renames it in its callers, whose names are returned. Throws ALREADY_EXISTS. */
  async rename(testcase: TestCase, name: string): Promise<{ name: string; callers: string[] }> {
    const callers = await this.callersOf(testcase, [testcase.name]);
    const renamed = parseTestcase({ ...contentOf(testcase), name });
    const { id, source } = testcase;
    const all: SavedTest[] = [
      { id, source, testcase: renamed },
      ...callers.map((caller) => ({
        ...{ id: caller.id, source: caller.source },
        testcase: withCallsRenamed(contentOf(caller), testcase.name, name),
      })),
    ];
    await this.deps.transaction(async (tx) => {
      const rows = this.deps.rowsIn(tx);
      const taken = await besideIt(rows, { testcase: renamed, source });
      if (taken && taken.id !== id) throw nameTaken(name);
      for (const one of all) await rows.update(one, this.now());
      for (const one of all) await this.keep(tx, one);
    });
    return { name: renamed.name, callers: callers.map((caller) => caller.name) };
  }

  async remove(testcase: TestCase): Promise<void> {
    await this.deps.transaction(async (tx) => {
      await this.deps.rowsIn(tx).remove(testcase.id);
      await this.keep(tx, { ...testcase, testcase });
    });
  }

  async callersOf({ id, source }: TestCase, names: readonly string[]): Promise<TestCase[]> {
    const all = await this.deps.rows.list();
    return all.filter(
      (other) =>
        other.id !== id &&
        (source.project === "" || other.source.project === source.project) &&
        callsOf(other).some((name) => names.includes(name)),
    );
  }

  /**
   * Stores tests and returns their ids. Each is first inserted under a name that is free, which the database decides: of two calls
   * at once the second waits for the first, and then sees what it would replace.
   */
  private async put(list: readonly SavedTest[], replace: MayReplace, tx: Database): Promise<string[]> {
    const rows = this.deps.rowsIn(tx);
    const ids: (string | undefined)[] = [];
    for (const saved of list) ids.push(await rows.insert(saved, this.now()));
    const present = list.filter((_, index) => ids[index] === undefined);
    await refuseReplacing(rows, present, replace);
    const stored: string[] = [];
    for (const [index, saved] of list.entries())
      stored.push(ids[index] ?? (await rows.upsert(saved, this.now())).id);
    return stored;
  }

  private async keep(tx: Database, { id, testcase, source }: SavedTest): Promise<void> {
    if (source.project !== "") await this.keeper(tx, { id, name: testcase.name, source });
  }

  /** Where the test case of this name is. A new one belongs to the project of its app. */
  private async placed({ testcase, app }: Checked, tx: Database): Promise<SavedTest> {
    const project = app?.project ?? "";
    const named = await this.deps.rowsIn(tx).named(testcase.name);
    const of = (folder: string) => named.find(({ source }) => source.project === folder);
    const before = of(projectInUse()) ?? of(project) ?? of("");
    const source: Source = before?.source ?? { ...databaseOnly, project };
    return { id: randomUUID(), testcase, source };
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }
}

const besideIt = async (rows: TestcaseRows, { testcase, source }: Omit<SavedTest, "id">) =>
  (await rows.named(testcase.name)).find((other) => other.source.project === source.project);

/** Whether a save may replace the test of its name. */
export type MayReplace = (before: TestCase) => boolean;

/** A test that says the same is not replaced. */
async function refuseReplacing(
  rows: TestcaseRows,
  list: readonly Omit<SavedTest, "id">[],
  replace: MayReplace,
): Promise<void> {
  const lost: string[] = [];
  for (const saved of list) {
    const before = await besideIt(rows, saved);
    if (before && !replace(before) && !isSame(saved.testcase, contentOf(before))) lost.push(before.name);
  }
  if (lost.length === 0) return;
  const names = lost
    .slice(0, 5)
    .map((name) => `"${name}"`)
    .join(", ");
  const more = lost.length > 5 ? ` and ${lost.length - 5} more` : "";
  throw new ToolError(
    "ALREADY_EXISTS",
    `This would replace ${lost.length === 1 ? "the test case" : "the test cases"} ${names}${more}. Nothing was saved.`,
    "Choose another name, or pass replace: true to replace what is stored.",
    { would_replace: lost.slice(0, 100) },
  );
}

/** As stored: JSON drops keys without a value. */
const isSame = (a: TestCaseInput, b: TestCaseInput): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));

const nameTaken = (name: string) =>
  new ToolError("ALREADY_EXISTS", `There is a test case "${name}" already.`, "Choose another name.");

const callsOf = (testcase: TestCaseInput) => [
  ...allBlocks(testcase).flatMap(({ block }) => (block.type === "call_testcase" ? [block.testcase] : [])),
  ...(testcase.setup === undefined ? [] : [testcase.setup]),
];

function withCallsRenamed(testcase: TestCaseInput, from: string, to: string): TestCaseInput {
  const inBlock = (block: Block): Block => {
    if (block.type === "call_testcase" && block.testcase === from) return { ...block, testcase: to };
    if (block.type !== "loop") return block;
    return { ...block, body: { ...block.body, blocks: block.body.blocks.map(inBlock) } };
  };
  const setup = testcase.setup === from ? { setup: to } : {};
  return { ...testcase, ...setup, blocks: testcase.blocks.map(inBlock) };
}
