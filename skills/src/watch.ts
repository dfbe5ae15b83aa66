import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { KnownTools, SkillFile } from "./folder.ts";
import { foldersIn, joinSkillFiles, type LoadedSkills, readSkillFiles } from "./load.ts";
import type { Skill } from "./skill.ts";
import type { SkillProblem } from "./source.ts";

export type SkillWatch = {
  /** What holds now. */
  current(): LoadedSkills;
  /** Reads all files again at once; a skill with a problem goes, also one that had a good state before. */
  reload(): void;
  /** Ends the watch; its owner must call it. */
  close(): void;
};

/**
 * Loads the skills of `folders` as `loadSkillFolders` does and loads them again when a file changes. A broken edit keeps
 * the last good state of that skill and is reported among the problems. `onChange` hears of every new state; a folder
 * that is not there yet is waited for.
 */
export function watchSkills(request: {
  folders: readonly string[];
  knownTools: ReadonlySet<string>;
  checkExpression?: KnownTools["checkExpression"];
  onChange?: (loaded: LoadedSkills) => void;
  /** Editors write a file in several steps; they are taken as one. */
  debounceMs?: number;
}): SkillWatch {
  return new Watch(request);
}

class Watch implements SkillWatch {
  private readonly request: Parameters<typeof watchSkills>[0];
  private readonly watchers = new Map<string, { watcher: FSWatcher; inode: bigint }>();
  private readonly good = new Map<string, Skill>();
  private timer: NodeJS.Timeout | undefined;
  private loaded: LoadedSkills;
  private isClosed = false;

  constructor(request: Parameters<typeof watchSkills>[0]) {
    this.request = request;
    this.loaded = this.load();
  }

  current(): LoadedSkills {
    return this.loaded;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const folder of [...this.watchers.keys()]) this.unwatch(folder);
  }

  private readonly schedule = (): void => {
    if (this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), this.request.debounceMs ?? 100);
    this.timer.unref();
  };

  reload(): void {
    if (this.isClosed) return;
    this.good.clear();
    this.refresh();
  }

  private refresh(): void {
    const before = this.loaded;
    this.loaded = this.load();
    if (!isDeepStrictEqual(before, this.loaded)) this.request.onChange?.(this.loaded);
  }

  private load(): LoadedSkills {
    // Watched before it is read: a change between the two is then seen.
    const unwatched = this.watchAll();
    const { knownTools: tools, checkExpression } = this.request;
    const folders = this.request.folders.map((folder) => readSkillFiles(folder, { tools, checkExpression }));
    const loaded = joinSkillFiles(folders.map((files) => files.map((file) => this.lastGood(file))));
    this.forget(new Set(folders.flat().map(({ file }) => file)));
    return { skills: loaded.skills, problems: [...loaded.problems, ...unwatched] };
  }

  private lastGood(read: SkillFile): SkillFile {
    const skill = read.skill ?? this.good.get(read.file);
    if (skill === undefined) return read;
    this.good.set(read.file, skill);
    return { ...read, skill };
  }

  private forget(present: ReadonlySet<string>): void {
    for (const file of this.good.keys()) if (!present.has(file)) this.good.delete(file);
  }

  /** Watches each folder and those in it; what cannot be watched is a problem. */
  private watchAll(): SkillProblem[] {
    const wanted = new Map(this.request.folders.flatMap(watchedFor));
    for (const [folder, { inode }] of this.watchers) if (wanted.get(folder) !== inode) this.unwatch(folder);
    return [...wanted].flatMap(([folder, inode]) => this.watchOne(folder, inode));
  }

  private watchOne(folder: string, inode: bigint): SkillProblem[] {
    if (this.watchers.has(folder)) return [];
    try {
      const watcher = watch(folder, { persistent: false }, this.schedule);
      watcher.on("error", () => this.unwatch(folder));
      this.watchers.set(folder, { watcher, inode });
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [{ file: folder, line: 1, message: `changes here are not seen: ${why}` }];
    }
  }

  private unwatch(folder: string): void {
    this.watchers.get(folder)?.watcher.close();
    this.watchers.delete(folder);
  }
}

/**
 * The folders to watch, with their inodes: one that was made anew under its old name needs a new watcher. A skill's file
 * lies one level down. For a folder that is missing it is the nearest one above it that is there.
 */
function watchedFor(folder: string): [folder: string, inode: bigint][] {
  const inode = inodeOf(folder);
  const above = dirname(folder);
  if (inode === undefined) return above === folder ? [] : watchedFor(above).slice(0, 1);
  const inner = foldersIn(folder).names.flatMap((name) => [
    join(folder, name),
    join(folder, name, "prompts"),
  ]);
  return [folder, ...inner].flatMap((one) => {
    const number = inodeOf(one);
    return number === undefined ? [] : [[one, number]];
  });
}

function inodeOf(folder: string): bigint | undefined {
  try {
    return statSync(folder, { bigint: true }).ino;
  } catch {
    // Missing, or not ours to look at: reading it says which.
    return undefined;
  }
}
