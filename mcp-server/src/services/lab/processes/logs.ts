import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { scrub } from "../../../observability/scrub.ts";
import { optionalInstant } from "../../runs/results/instant.ts";
import { estimateTokens } from "../../values/tokens.ts";
import { linesFromEnd } from "./logFile.ts";
import { asksForFields, formatPlain, formatRecord, isWanted, type LogRecord, readRecord } from "./logLine.ts";
import type { LogPage, LogQuery, ProcessDependencies } from "./types.ts";

const ownLog = "daemon";
/** More than a log and the one before it ever are, since they are rotated; older ones may be longer. */
const mostBytes = 24_000_000;

type Redact = (text: string) => string;

/** The lines of a log that a query asks for, newest first. */
export async function readLogs(
  query: LogQuery,
  { logFolder, secrets }: Pick<ProcessDependencies, "logFolder" | "secrets">,
): Promise<LogPage> {
  const files = filesOf(logFolder, query.service ?? ownLog);
  const wanted = {
    ...query,
    since: optionalInstant("since", query.since),
    until: optionalInstant("until", query.until),
    text: query.text?.toLowerCase(),
  };
  const page = new Page(query.maxTokens);
  let left = mostBytes;
  let unread = 0;
  for (const file of files) {
    const { size } = statSync(file);
    unread += Math.max(0, size - left);
    if (left > 0) await readFile(file, left, wanted, page, (text) => scrub(secrets.mask(text)));
    left = Math.max(0, left - size);
  }
  return { ...page.end(), unread };
}

type Wanted = Omit<LogQuery, "maxTokens">;

async function readFile(
  file: string,
  maxBytes: number,
  wanted: Wanted,
  page: Page,
  redact: Redact,
): Promise<void> {
  for await (const raw of linesFromEnd(file, maxBytes)) {
    if (raw.trim() === "") continue;
    const record = readRecord(raw);
    if (!record) page.malformed++;
    if (record && wanted.since !== undefined && record.time < wanted.since) return;
    const show = () => shownLine(raw, redact);
    if (isAsked(record, wanted) && says(wanted.text, show)) page.add(show);
  }
}

const isAsked = (record: LogRecord | undefined, wanted: Wanted): boolean =>
  record ? isWanted(record, wanted) : !asksForFields(wanted);

/** A text is looked for in what is shown, so that a guess at a secret finds nothing. */
const says = (text: string | undefined, show: () => string): boolean =>
  text === undefined || show().toLowerCase().includes(text);

/** Cleaned twice: as it stands, and again for what stood behind an escape. */
function shownLine(raw: string, redact: Redact): string {
  const record = readRecord(redact(raw));
  return redact(record ? formatRecord(record) : formatPlain(redact(raw)));
}

/** As many lines as fit, at least one, and a count of the others, which are not even made. */
class Page {
  malformed = 0;
  private readonly lines: string[] = [];
  private more = 0;
  private left: number;

  constructor(maxTokens: number) {
    this.left = maxTokens;
  }

  add(make: () => string): void {
    if (this.more > 0) return void this.more++;
    const line = make();
    this.left -= estimateTokens(line) + 1;
    if (this.left >= 0 || this.lines.length === 0) this.lines.push(line);
    else this.more++;
  }

  end() {
    const { lines, more, malformed } = this;
    return { shown: lines.length, lines: lines.join("\n"), more, malformed };
  }
}

/** The log of a service and the one before it; none is there before anything was logged. */
function filesOf(folder: string, service: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const services = names.filter((name) => name.endsWith(".log")).map((name) => name.slice(0, -".log".length));
  if (service !== ownLog && !services.includes(service)) throw noLog(service, services);
  return [`${service}.log`, `${service}.log.1`]
    .filter((name) => names.includes(name))
    .map((name) => join(folder, name));
}

function noLog(service: string, services: readonly string[]): ToolError {
  const near = nearest(service, services, 3);
  return new ToolError(
    "INVALID_INPUT",
    `service: there is no log of "${service.slice(0, 100)}".`,
    near.length > 0
      ? `Did you mean ${near.join(", ")}?`
      : `There are logs of ${services.join(", ") || "none yet"}; leave service out for the ${ownLog}'s.`,
    { services },
  );
}
