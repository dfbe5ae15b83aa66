import { existsSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { testcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import { inProject } from "../../records/inUse.ts";
import { testNameOf } from "../testcases/index.ts";
import { appView } from "../userinterfaces/index.ts";
import { type FileRead, giveOnlyApp, newApp, readYaml } from "./importYaml.ts";
import { problemsIn, refuseTests, throwAll } from "./problems.ts";
import { hashOf } from "./projectFiles.ts";
import type { AppFilesDependencies } from "./types.ts";

/** The text is left out if the database may know it already. */
export type ProjectFile = { file: string; hash: string; text?: string | undefined };
export type ProjectLoad = {
  /** The absolute path of the project's folder; the paths of files and folders are in it. */
  project: string;
  files: readonly ProjectFile[];
  /** Folders of which `files` has every file. Tests of other files there are archived. */
  folders: readonly string[];
};

export type LoadedFile = {
  file: string;
  app?: string;
  tests: { id: string; name: string }[];
  /** The database had another version of it. */
  changed: boolean;
};
export type LoadReport = {
  /** Files whose text is needed; then nothing was done. */
  needs?: string[];
  files: LoadedFile[];
  /** Names of test cases and apps that are no longer in a file. */
  archived: string[];
};

type Read = FileRead & { file: string; hash: string; text: string };

export class ProjectLoader {
  constructor(private readonly deps: AppFilesDependencies) {}

  load(asked: ProjectLoad): Promise<LoadReport> {
    return inProject(asked.project, async () => {
      const known = await this.stored(this.deps.db, asked.project);
      const changed = asked.files.filter(({ file, hash }) => known.get(file)?.hash !== hash);
      const needs = changed.flatMap(({ file, text }) => (text === undefined ? [file] : []));
      if (needs.length > 0) return { needs, files: [], archived: [] };
      const reads = await this.readAll(changed);
      this.refuseTwins(reads, asked, known);
      const archived = await this.store(reads, asked);
      const now = await this.stored(this.deps.db, asked.project);
      const isChanged = new Set(changed.map(({ file }) => file));
      const files = asked.files.map(({ file }) => {
        const { app, tests = [] } = now.get(file) ?? {};
        return { file, ...(app && { app: app.name }), tests, changed: isChanged.has(file) };
      });
      return { files, archived };
    });
  }

  private async readAll(files: readonly ProjectFile[]): Promise<Read[]> {
    const errors: ToolError[] = [];
    const reads: Read[] = [];
    for (const { file, text = "" } of files) {
      const problems = await problemsIn(text, file);
      try {
        const read = readYaml({ verbs: this.deps.verbs(), file, problems });
        reads.push({ ...read, file, hash: hashOf(text), text });
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        errors.push(error);
      }
    }
    throwAll(errors);
    return reads;
  }

  private refuseTwins(reads: readonly Read[], { project, files, folders }: ProjectLoad, known: Stored): void {
    const isRead = new Set(reads.map(({ file }) => file));
    const given = new Set(files.map(({ file }) => file));
    // A file that is gone frees its names.
    const isThere = (file: string) =>
      given.has(file) || (!isIn(folders, file) && existsSync(join(project, file)));
    const others = [...known].filter(([file]) => !isRead.has(file) && isThere(file));
    const otherApps = others.flatMap(([, { app }]) => app?.name ?? []);
    giveOnlyApp(reads, otherApps);
    const places = new Map<string, string>();
    for (const [file, { app, tests }] of others) {
      if (app) places.set(`app ${app.name}`, file);
      for (const { name } of tests) places.set(`test ${name}`, file);
    }
    const errors: ToolError[] = [];
    for (const { file, model, tests, problems } of reads) {
      const note = (what: "app" | "test", name: string, path: readonly PropertyKey[]) => {
        const place = places.get(`${what} ${name}`);
        if (place !== undefined) problems.add(path, `the ${what} "${name}" is in ${place} too`, "name");
        places.set(`${what} ${name}`, file);
      };
      if (model) note("app", model.ui.name, []);
      for (const { value, path } of tests) note("test", testNameOf(value), path);
      if (problems.lines.length > 0) errors.push(problems.error());
    }
    throwAll(errors);
  }

  private async store(reads: readonly Read[], asked: ProjectLoad): Promise<string[]> {
    const { project } = asked;
    const { userinterfaces, references, verbs } = this.deps;
    const apps = reads.flatMap(({ model, file, hash, problems }) => {
      const source = { project, file, file_hash: hash };
      return model ? [{ ...newApp(model, { verbs: verbs(), file, problems }), source }] : [];
    });
    let archived: string[] = [];
    await userinterfaces.put(apps, {
      replace: true,
      storeWith: async (tx, models) => {
        await this.storeTests(reads, { tx, project, apps: models.map(appView) });
        for (const { ui, source } of models) {
          const given = reads.find(({ file }) => file === source.file)?.references;
          if (given) await references.importAll(given, { tx, userinterfaceId: ui.id });
        }
        archived = await this.archive(tx, reads, asked);
      },
    });
    await references.removeOrphans();
    return archived;
  }

  private async storeTests(
    reads: readonly Read[],
    { tx, project, apps }: { tx: Database; project: string; apps: ReturnType<typeof appView>[] },
  ): Promise<void> {
    const placed = reads.flatMap((read) => read.tests.map((test, at) => ({ ...test, read, at })));
    await this.deps.testcases.importAll(
      placed.map(({ value }) => value),
      {
        tx,
        apps,
        placeOf(index) {
          const { read, at } = placed[index] ?? {};
          const source = { project, file: read?.file ?? null, file_hash: read?.hash ?? null };
          return { source, file_position: at };
        },
        refuse: (found) => refuseTests(placed, found),
      },
    );
  }

  /** Archives what is no longer in the files that were read, and what is of files that are gone from whole folders. */
  private async archive(tx: Database, reads: readonly Read[], asked: ProjectLoad): Promise<string[]> {
    const given = new Set(asked.files.map(({ file }) => file));
    const held = new Map(reads.map((read) => [read.file, read]));
    const at = new Date(this.deps.clock.now()).toISOString();
    const isGone = (file: string | null, isHeld: (read: Read) => boolean): boolean => {
      if (file === null) return false;
      const read = held.get(file);
      return read ? !isHeld(read) : !given.has(file) && isIn(asked.folders, file);
    };
    const [apps, tests] = [userinterfaceRows(tx), testcaseRows(tx)];
    const goneApps = (await apps.ofProject(asked.project)).filter(({ file, name }) =>
      isGone(file, ({ model }) => model?.ui.name === name),
    );
    const goneTests = (await tests.ofProject(asked.project)).filter(({ source, name }) =>
      isGone(source.file, (read) => read.tests.some(({ value }) => testNameOf(value) === name)),
    );
    for (const { id } of goneApps) await apps.archive(id, at);
    for (const { id } of goneTests) await tests.archive(id, at);
    return [...goneApps, ...goneTests].map(({ name }) => name);
  }

  private async stored(db: Database, project: string): Promise<Stored> {
    const stored: Stored = new Map();
    const of = (file: string, hash: string | null) => {
      const entry = stored.get(file) ?? { hash, app: undefined, tests: [] };
      stored.set(file, entry);
      return entry;
    };
    for (const { id, name, file, file_hash } of await userinterfaceRows(db).ofProject(project))
      if (file !== null) of(file, file_hash).app = { id, name };
    for (const { id, name, source } of await testcaseRows(db).ofProject(project))
      if (source.file !== null) of(source.file, source.file_hash).tests.push({ id, name });
    return stored;
  }
}

type Row = { id: string; name: string };
type Stored = Map<string, { hash: string | null; app: Row | undefined; tests: Row[] }>;

const isIn = (folders: readonly string[], file: string) =>
  folders.some((folder) => folder === "" || file.startsWith(`${folder}/`));
