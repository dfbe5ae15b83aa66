import { type LogcatLine, parseLogcatLine } from "./logcatLine.ts";

const mostLines = 12;
const longestLine = 300;
/** Lines of one crash come at once; when none has come for so long, it is reported. */
const quietMs = 250;

export type CrashFailure = {
  type: "failed";
  kind: "app_crash" | "anr";
  packageName: string;
  excerpt: string;
};
export type CrashEvent = CrashFailure | { type: "started"; packageName: string };

type Failing = { kind: "app_crash" | "anr"; tag: string; pid: string; packageName: string; lines: string[] };

/** Reads a logcat as it comes, as bytes or lines, and reports apps that crashed, do not respond, or were started. */
export class CrashReader {
  readonly #report: (event: CrashEvent) => void;
  #rest = "";
  readonly #decoder = new TextDecoder();
  #failing: Failing | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(report: (event: CrashEvent) => void) {
    this.#report = report;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = parseLogcatLine(raw);
      if (line) this.read(line);
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#flush();
  }

  read(line: LogcatLine): void {
    const failing = this.#failing;
    const begun = beginningOf(line);
    if (begun) {
      this.#flush();
      this.#failing = begun;
    } else if (failing !== undefined && line.tag === failing.tag && line.pid === failing.pid) {
      failing.packageName ||= processIn(line.text);
      if (failing.lines.length < mostLines) failing.lines.push(line.text.slice(0, longestLine));
    }
    const started = startedIn(line);
    if (started !== undefined) {
      this.#flush();
      this.#report({ type: "started", packageName: started });
    }
    if (this.#failing === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), quietMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const failing = this.#failing;
    this.#failing = undefined;
    if (failing === undefined || failing.packageName === "") return;
    const { kind, packageName, lines } = failing;
    this.#report({ type: "failed", kind, packageName, excerpt: lines.join("\n") });
  }
}

/** A crash in Java or Kotlin, one in native code, or an app that does not respond. */
function beginningOf({ tag, pid, text }: LogcatLine): Failing | undefined {
  const lines = [text.slice(0, longestLine)];
  if (tag === "AndroidRuntime" && text.startsWith("FATAL EXCEPTION"))
    return { kind: "app_crash", tag, pid, packageName: "", lines };
  if (tag === "DEBUG" && />>> .+ <<</.test(text))
    return { kind: "app_crash", tag, pid, packageName: packageOf(/>>> (\S+)/.exec(text)?.[1]), lines };
  const anr = /^ANR in (\S+)/.exec(text)?.[1];
  if (tag !== "ActivityManager" || anr === undefined) return undefined;
  return { kind: "anr", tag, pid, packageName: packageOf(anr), lines };
}

/** `Process: com.example.shop, PID: 4321` */
const processIn = (text: string): string => packageOf(/^Process: ([\w.:]+)/.exec(text)?.[1]);

/** A process is called after its package, and what it does behind a colon. */
const packageOf = (process = ""): string => process.replace(/:.*$/, "");

/** `Displayed com.example.shop/.Main: +350ms`, `Start proc 4321:com.example.shop/u0a123 for …` */
function startedIn({ tag, text }: LogcatLine): string | undefined {
  if (!/^Activity(?:Task)?Manager$/.test(tag)) return undefined;
  return /^Displayed ([\w.]+)\//.exec(text)?.[1] ?? /^Start proc \d+:([\w.]+)[/:]/.exec(text)?.[1];
}

/** The failures in a whole log. */
export function failuresIn(lines: readonly LogcatLine[]): CrashFailure[] {
  const failures: CrashFailure[] = [];
  const reader = new CrashReader((event) => {
    if (event.type === "failed") failures.push(event);
  });
  for (const line of lines) reader.read(line);
  reader.end();
  return failures;
}
