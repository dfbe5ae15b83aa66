import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { firstMatch, matchSchema } from "../../elements/match.ts";
import { quoted } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { ReceivedDownload } from "../browser/downloads.ts";
import type { DrivenSession } from "../browser/session.ts";
import { lostBrowser } from "../page/failures.ts";
import { pageTimeoutShape } from "./elementCommand.ts";

const LOOK_EVERY_MS = 50;

export function downloadCommands(session: DrivenSession): Command[] {
  let deniedBefore = session.guard.denials;
  return [
    defineCommand({
      name: "wait_for_download",
      description:
        "Waits for a download to arrive: the oldest that no call has given yet, begun before or now. Gives name, url, bytes and sha256.",
      effect: "read",
      input: z.strictObject({
        name: z.string().min(1).max(500).optional().describe("Of the file; any when left out."),
        match: matchSchema.default("same"),
        text: z.boolean().default(false).describe("Give the file's text too."),
        ...pageTimeoutShape,
      }),
      async run({ name, match, text, timeout_ms }, signal) {
        const denied = deniedBefore;
        deniedBefore = session.guard.denials;
        const until = performance.now() + timeout_ms;
        const wait: Wait = (isReady) => {
          const isDone = async () => {
            if (!session.isAlive()) throw lostBrowser();
            return isReady();
          };
          return poll(isDone, { everyMs: LOOK_EVERY_MS, ms: until - performance.now(), signal });
        };
        const next = async () => {
          const left = session.downloads.history.filter((one) => !one.isTaken);
          const names = left.map((one) => one.name);
          return left[name === undefined ? 0 : await firstMatch(match, name, names)];
        };
        await wait(async () => (await next()) !== undefined);
        const download = await next();
        if (download === undefined)
          throw noDownload(session, name, timeout_ms, session.guard.denials > denied);
        download.isTaken = true;
        await wait(() => download.end() !== undefined);
        refuseIncomplete(download, timeout_ms);
        const { text: content, ...facts } = await download.read();
        return {
          message: `${download.name} arrived: ${facts.bytes} bytes`,
          data: { name: download.name, url: download.url, ...facts, ...(text && { text: content ?? null }) },
        };
      },
    }),
  ];
}

/** Says whether it became ready before the command's time was over. */
type Wait = (isReady: () => boolean | Promise<boolean>) => Promise<boolean>;

function refuseIncomplete({ name, end }: ReceivedDownload, timeoutMs: number): void {
  const how = end();
  if (how?.ok) return;
  if (how === undefined) {
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      `The download of ${quoted(name)} began, and has not ended within ${timeoutMs} ms. Raise timeout_ms; one that takes longer than 30 s is stopped.`,
    );
  }
  throw new DeviceError(
    "ACTION_REJECTED",
    `The download of ${quoted(name)} was not received: ${how.reason}. Check what the server sends.`,
  );
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
