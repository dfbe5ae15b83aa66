import { existsSync, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Controller, type LogLine, nearest } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { scrub } from "../../../observability/scrub.ts";
import { controllersWith, reasonsOf, using } from "../../devices/portOf.ts";
import type { CallContext, DeviceEntry, OpenDevice } from "../../ports.ts";
import { optionalInstant } from "../../runs/results/instant.ts";
import { estimateTokens } from "../../values/tokens.ts";
import { asksForFields, formatPlain, formatRecord, isWanted, type LogRecord, readRecord } from "./logLine.ts";
import type { LogQuery, ProcessDependencies } from "./types.ts";

const ownLog = "daemon";
/** More than a log and the one before it ever are, since they are rotated; older ones may be longer. */
const mostBytes = 24_000_000;

type LogDependencies = Pick<ProcessDependencies, "logFolder" | "secrets" | "devices">;

/** `more` lines match and are older; `malformed` are not records, such as what a crash leaves; `unread` bytes are older still. */
export async function readLogs(
  query: LogQuery,
  { logFolder, secrets, devices }: LogDependencies,
  context: CallContext,
) {
  const reading: Reading = {
    wanted: {
      ...query,
      since: optionalInstant("since", query.since),
      until: optionalInstant("until", query.until),
      text: query.text?.toLowerCase(),
    },
    page: new Page(query.maxTokens),
    redact: (text) => scrub(secrets.mask(text)),
  };
  const service = query.service ?? ownLog;
  const services = servicesIn(logFolder);
  if (services.includes(service)) return readService(filesOf(logFolder, service), reading);
  const entries = devices.list();
  const entry = entries.find(({ id, name }) => id === service || name === service);
  if (!entry) throw noLog(service, [...services, ...entries.map(({ id }) => id)]);
  return showRecords(await deviceRecords(entry, devices, context), reading);
}

type Reading = { wanted: Omit<LogQuery, "maxTokens">; page: Page; redact(text: string): string };

async function readService(files: readonly string[], reading: Reading) {
  let left = mostBytes;
  let unread = 0;
  for (const file of files) {
    const { size } = statSync(file);
    unread += Math.max(0, size - left);
    if (left > 0) await readFile(file, left, reading);
    left = Math.max(0, left - size);
  }
  return { ...reading.page.end(), unread };
}

function showRecords(records: readonly LogRecord[], { wanted, page, redact }: Reading) {
  for (const record of records) {
    const show = () => redact(formatRecord({ ...record, msg: redact(record.msg) }));
    if (isWanted(record, wanted) && says(wanted.text, show)) page.add(show);
  }
  return { ...page.end(), unread: 0 };
}

async function readFile(file: string, maxBytes: number, { wanted, page, redact }: Reading): Promise<void> {
  for (const raw of await linesFromEnd(file, maxBytes)) {
    if (raw.trim() === "") continue;
    const record = readRecord(raw);
    if (!record) page.malformed++;
    if (record && wanted.since !== undefined && record.time < wanted.since) return;
    const show = () => shownLine(raw, redact);
    if (isAsked(record, wanted) && says(wanted.text, show)) page.add(show);
  }
}

const isAsked = (record: LogRecord | undefined, wanted: Reading["wanted"]): boolean =>
  record ? isWanted(record, wanted) : !asksForFields(wanted);

/** A text is looked for in what is shown, so that a guess at a secret finds nothing. */
const says = (text: string | undefined, show: () => string): boolean =>
  text === undefined || show().toLowerCase().includes(text);

/** Cleaned twice: as it stands, and again for what stood behind an escape. */
function shownLine(raw: string, redact: Reading["redact"]): string {
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

/** Our daemon's log is named before anything was logged. */
function servicesIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const services = names.filter((name) => name.endsWith(".log")).map((name) => name.slice(0, -".log".length));
  return [...new Set([ownLog, ...services])];
}

const filesOf = (folder: string, service: string): string[] =>
  [`${service}.log`, `${service}.log.1`].map((name) => join(folder, name)).filter((file) => existsSync(file));

function noLog(service: string, services: readonly string[]): ToolError {
  const near = nearest(service, services, 3);
  return new ToolError(
    "INVALID_INPUT",
    `service: there is no log of "${service.slice(0, 100)}".`,
    near.length > 0
      ? `Did you mean ${near.join(", ")}?`
      : `There are logs of ${services.join(", ")}; leave service out for the ${ownLog}'s.`,
    { services },
  );
}

/** More than a device's own buffer holds, as a rule. */
const mostLines = 20_000;

type Devices = ProcessDependencies["devices"];

/** What the device itself wrote, newest first. Throws CONTROLLER_UNAVAILABLE for a device that keeps no log. */
async function deviceRecords(
  { id }: DeviceEntry,
  devices: Devices,
  context: CallContext,
): Promise<LogRecord[]> {
  const { device, signal, done } = await devices.acquire({ device_id: id }, context, { drives: false });
  try {
    const logging = controllersWith(device, "logs");
    if (logging.length === 0) throw await noDeviceLog(device, devices, context);
    const linesOf = async ({ logs }: Controller) => (await logs?.lines({ limit: mostLines }, signal)) ?? [];
    const read = await Promise.all(logging.map((one) => using(device, one, signal, () => linesOf(one))));
    const newestFirst = read.flatMap((lines) => lines.toReversed());
    return newestFirst.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).map(toRecord);
  } finally {
    done();
  }
}

const toRecord = ({ at, level, text, source }: LogLine): LogRecord => ({
  time: new Date(at).toISOString(),
  level: level === "warning" ? "warn" : level,
  msg: text,
  fields: source === undefined ? {} : { source },
});

async function noDeviceLog(device: OpenDevice, devices: Devices, context: CallContext): Promise<ToolError> {
  const looked = await Promise.all(devices.list().map(({ id }) => devices.peek({ device_id: id }, context)));
  const logging = looked.flatMap(({ entry, opened }) =>
    opened && controllersWith(opened, "logs").length > 0 ? [entry.id] : [],
  );
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    [`${device.id} keeps no log: none of its controllers reads one.`, ...reasonsOf(device)].join(" "),
    logging.length > 0
      ? `Of the open devices, these keep one: ${logging.join(", ")}. Leave service out for our daemon's log.`
      : "No open device keeps a log. Leave service out for our daemon's log.",
    { device_id: device.id, devices: logging },
  );
}

/** The lines of a file, last first, from its last `maxBytes`; a line that this bound cuts in two is left out. */
export async function linesFromEnd(file: string, maxBytes: number): Promise<string[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const bytes = Math.min(size, maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, size - bytes);
    const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
    return (bytes < size ? lines.slice(1) : lines).reverse();
  } finally {
    await handle.close();
  }
}
