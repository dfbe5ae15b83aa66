import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { matches, matchSchema } from "../../elements/match.ts";
import { quoted } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { ReceivedDownload } from "../browser/downloads.ts";
import type { DrivenSession } from "../browser/session.ts";
import { lostBrowser } from "../page/failures.ts";
import { pageTimeoutShape } from "./elementCommand.ts";

const LOOK_EVERY_MS = 50;

/** Files that the page gives. */
export function downloadCommands(session: DrivenSession): Command[] {
  const input = z.strictObject({
    name: z.string().min(1).max(500).optional().describe("Of the file; any when left out."),
    match: matchSchema.default("same"),
    text: z.boolean().default(false).describe("Give the file's text too."),
    ...pageTimeoutShape,
  });
  let deniedBefore = session.denials();
  return [
    defineCommand<typeof input>({
      name: "wait_for_download",
      description:
        "Waits for a download to arrive: the oldest that no call has given yet, begun before or now. Gives name, url, bytes and sha256.",
      effect: "read",
      input,
      async run({ name, match, text, timeout_ms }, signal) {
        const denied = deniedBefore;
        deniedBefore = session.denials();
        const wait = new Wait(session, timeout_ms, signal);
        const download = await wait.begun((one) => name === undefined || matches(match, name, one.name));
        if (download === undefined) throw noDownload(session, name, timeout_ms, session.denials() > denied);
        await wait.arrived(download);
        const { text: content, ...facts } = await download.read();
        return {
          message: `${download.name} arrived: ${facts.bytes} bytes`,
          data: { name: download.name, url: download.url, ...facts, ...(text && { text: content ?? null }) },
        };
      },
    }),
  ];
}

/** One wait with one deadline, first for the beginning of a download and then for its end. */
class Wait {
  private readonly until: number;

  constructor(
    private readonly session: DrivenSession,
    private readonly timeoutMs: number,
    private readonly signal: AbortSignal,
  ) {
    this.until = performance.now() + timeoutMs;
  }

  async begun(fits: (download: ReceivedDownload) => boolean): Promise<ReceivedDownload | undefined> {
    let found: ReceivedDownload | undefined;
    await this.poll(async () => {
      found = this.session.downloads.take(fits);
      return found !== undefined;
    });
    return found;
  }

  /** Throws where it does not arrive in time, or not at all. */
  async arrived(download: ReceivedDownload): Promise<void> {
    await this.poll(async () => download.end() !== undefined);
    const end = download.end();
    if (end?.ok) return;
    if (end === undefined) {
      throw new DeviceError(
        "COMMAND_TIMEOUT",
        `The download of ${quoted(download.name)} began, and has not ended within ${this.timeoutMs} ms. Raise timeout_ms; one that takes longer than 30 s is stopped.`,
      );
    }
    throw new DeviceError(
      "ACTION_REJECTED",
      `The download of ${quoted(download.name)} was not received: ${end.reason}. Check what the server sends.`,
    );
  }

  private poll(ready: () => Promise<boolean>): Promise<boolean> {
    const isReady = () => {
      if (!this.session.isAlive()) throw lostBrowser();
      return ready();
    };
    const ms = this.until - performance.now();
    return poll(isReady, { everyMs: LOOK_EVERY_MS, ms, signal: this.signal });
  }
}

function noDownload(
  session: DrivenSession,
  name: string | undefined,
  timeoutMs: number,
  wasDenied: boolean,
): DeviceError {
  if (wasDenied) {
    return new DeviceError(
      "URL_DENIED",
      "No download began, and the URL policy refused a request meanwhile. Change url_policy if the file is to be had from there.",
    );
  }
  const others = session.downloads.history.map((one) => one.name);
  const seen = others.length > 0 ? ` Downloads so far: ${others.slice(-5).join(", ")}.` : "";
  return new DeviceError(
    "COMMAND_TIMEOUT",
    `No download${name === undefined ? "" : ` of ${quoted(name)}`} began within ${timeoutMs} ms.${seen} Look at the screen: the file may have been opened in the tab, or the page may say why it gives none.`,
    { nearest: others.slice(-5) },
  );
}
