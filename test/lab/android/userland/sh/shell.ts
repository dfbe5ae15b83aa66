import { FileError, type ShellIo } from "../../labShell.ts";
import { type Expansion, expandText, expandWords } from "./expand.ts";
import { parseScript } from "./parse.ts";
import { Pipe } from "./pipe.ts";
import { type List, type Pipeline, type Redirection, ShellSyntaxError, type Stage } from "./syntax.ts";

export type ShellHost = {
  /** Runs a program to its end and returns its exit code; undefined if no program has this name. */
  run(name: string, args: readonly string[], io: ShellIo, shell: Shell): Promise<number> | undefined;
  has(name: string): boolean;
  paths(pattern: RegExp): readonly string[];
  read(path: string): Uint8Array;
  write(path: string, data: Uint8Array, append: boolean): void;
};

export class ShellExit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

/** A file that a command writes to; it gets its text when the command ends. */
type OpenFile = { path: string; written: Pipe };

const notFound = 127;
const syntaxCode = 1;

export class Shell {
  lastCode = 0;

  constructor(
    private readonly host: ShellHost,
    readonly variables: Map<string, string> = new Map(),
    private readonly args: readonly string[] = [],
  ) {}

  async run(script: string, io: ShellIo): Promise<number> {
    try {
      return await this.list(parseScript(script), io);
    } catch (error) {
      if (error instanceof ShellExit) return error.code;
      if (!(error instanceof ShellSyntaxError)) throw error;
      await io.err(`/system/bin/sh: syntax error: ${error.message}\n`);
      return syntaxCode;
    }
  }

  /** A shell with variables of its own that begin as these are. */
  fork(args: readonly string[] = this.args): Shell {
    return new Shell(this.host, new Map(this.variables), args);
  }

  program(name: string, args: readonly string[], io: ShellIo): Promise<number> | undefined {
    return this.host.run(name, args, io, this);
  }

  has(name: string): boolean {
    return this.host.has(name);
  }

  private async list(list: List, io: ShellIo): Promise<number> {
    for (const { when, pipeline, inBackground } of list) {
      if (io.signal.aborted) break;
      if (when !== "always" && (this.lastCode === 0) !== (when === "success")) continue;
      const end = this.pipeline(pipeline, io);
      if (inBackground) void end.catch(() => undefined);
      this.lastCode = inBackground ? 0 : await end;
    }
    return this.lastCode;
  }

  private async pipeline({ stages, isNegated }: Pipeline, io: ShellIo): Promise<number> {
    const [first, ...others] = stages;
    if (!first) return 0;
    const code = others.length === 0 ? await this.stage(first, io) : await this.piped(stages, io);
    return isNegated ? Number(code === 0) : code;
  }

  /** All at once, each in a shell of its own. One that ends also ends those whose output it read. */
  private async piped(stages: readonly Stage[], io: ShellIo): Promise<number> {
    let { stdin } = io;
    let endReadFrom = () => {};
    const runs = stages.map((stage, index) => {
      const pipe = new Pipe();
      const ending = new AbortController();
      const isLast = index === stages.length - 1;
      const signal = AbortSignal.any([io.signal, ending.signal]);
      const out = isLast ? io.out : async (bytes: Uint8Array | string) => pipe.push(bytes);
      const endBefore = endReadFrom;
      const run = this.fork().inSubshell((shell) => shell.stage(stage, { ...io, stdin, out, signal }));
      stdin = pipe;
      endReadFrom = () => ending.abort();
      return run.finally(() => {
        pipe.end();
        endBefore();
      });
    });
    return (await Promise.all(runs)).at(-1) ?? 0;
  }

  private async inSubshell(work: (shell: Shell) => Promise<number>): Promise<number> {
    try {
      return await work(this);
    } catch (error) {
      if (error instanceof ShellExit) return error.code;
      throw error;
    }
  }

  private async stage(stage: Stage, io: ShellIo): Promise<number> {
    const files: OpenFile[] = [];
    let redirected = io;
    let target = "";
    try {
      for (const redirection of stage.redirections) {
        target = await expandText(redirection.target, this.expansion(io));
        redirected = this.redirect(redirected, redirection, target, files);
      }
      try {
        return await this.simple(stage, redirected);
      } finally {
        for (const { path, written } of files) this.host.write(path, written.drain(), true);
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await io.err(`/system/bin/sh: can't open ${target}: ${error.message}\n`);
      return 1;
    }
  }

  private redirect(
    io: ShellIo,
    { descriptor, kind }: Redirection,
    target: string,
    files: OpenFile[],
  ): ShellIo {
    if (kind === "copy") {
      const source = target === "2" ? io.err : io.out;
      return descriptor === 2 ? { ...io, err: source } : { ...io, out: source };
    }
    if (kind === "read") {
      const pipe = new Pipe();
      pipe.push(this.host.read(target));
      pipe.end();
      return { ...io, stdin: pipe };
    }
    const write = target === "/dev/null" ? async () => undefined : this.openFile(target, kind, files);
    return descriptor === 2 ? { ...io, err: write } : { ...io, out: write };
  }

  private openFile(path: string, kind: "write" | "append", files: OpenFile[]): ShellIo["out"] {
    const written = new Pipe();
    this.host.write(path, new Uint8Array(), kind === "append");
    files.push({ path, written });
    return async (bytes) => written.push(bytes);
  }

  private async simple({ assignments, words }: Stage, io: ShellIo): Promise<number> {
    const expansion = this.expansion(io);
    const [name, ...args] = await expandWords(words, expansion);
    const shell = name === undefined ? this : this.fork();
    for (const { name: variable, value } of assignments) {
      shell.variables.set(variable, await expandText(value, expansion));
    }
    if (name === undefined) return 0;
    const run = (assignments.length > 0 ? shell : this).program(name, args, io);
    if (run !== undefined) return run;
    await io.err(`/system/bin/sh: ${name}: inaccessible or not found\n`);
    return notFound;
  }

  private expansion(io: ShellIo): Expansion {
    return {
      variable: (name) => this.variable(name),
      paths: (pattern) => this.host.paths(pattern),
      output: async (list) => {
        const pipe = new Pipe();
        const out = async (bytes: Uint8Array | string) => pipe.push(bytes);
        await this.fork().inSubshell((shell) => shell.list(list, { ...io, out }));
        return pipe.drain().toString("utf8").replace(/\n+$/, "");
      },
    };
  }

  private variable(name: string): string {
    if (name === "?") return String(this.lastCode);
    if (name === "$") return "4242";
    if (name === "#") return String(Math.max(0, this.args.length - 1));
    if (name === "@" || name === "*") return this.args.slice(1).join(" ");
    if (/^\d$/.test(name)) return this.args[Number(name)] ?? "";
    return this.variables.get(name) ?? "";
  }
}
