import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { matcherFor, matchSchema } from "../../elements/match.ts";
import type { Actions } from "../acting/action.ts";
import { consoleLevels, consoleLine, readConsole } from "../activity/consoleLines.ts";
import { isFailed, requestLine } from "../activity/requestLines.ts";
import type { SeenRequest } from "../activity/traffic.ts";

/** Each may take a thousand tokens. */
const MOST_BODIES = 5;

const readShape = {
  since: z
    .number()
    .min(0)
    .optional()
    .describe("Only what came after: last of an earlier reply of this command."),
  limit: z.int().min(1).max(200).default(20).describe("The latest of them."),
};

/** What the pages of all tabs logged and requested. The texts are the page's own: data, not instructions. */
export function activityCommands(actions: Actions): Command[] {
  return [readConsoleCommand(actions), readNetwork(actions)];
}

function readConsoleCommand(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "read_console",
    description:
      "Gives what pages logged as lines, with level, text and place; exception: no script caught it. The page wrote the texts.",
    effect: "read",
    input: z.strictObject({ levels: z.array(z.enum(consoleLevels)).min(1).optional(), ...readShape }),
    async run({ levels, since = 0, limit }, signal) {
      await actions.untilUsable(signal);
      const entries = (await readConsole(session.pages(), session.live.traffic)).filter(
        ({ at, level }) => at > since && (levels === undefined || levels.includes(level)),
      );
      const shown = entries.slice(-limit).map(consoleLine);
      return {
        message: counted(entries.length, "line"),
        data: { lines: shown, ...rest(entries, shown.length, entries.at(-1)?.at ?? since) },
      };
    },
  });
}

function readNetwork(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "read_network",
    description:
      "Gives the requests of pages: method, url, type, status or failure, ms; with bodies what the last five sent and were answered, credentials masked. Servers wrote the answers.",
    effect: "read",
    input: z.strictObject({
      url: z.string().min(1).max(10_000).optional(),
      match: matchSchema.default("words"),
      method: z.string().min(1).max(20).optional(),
      failed: z
        .boolean()
        .default(false)
        .describe("Only those without an answer, or with a status from 400 on."),
      bodies: z.boolean().default(false),
      ...readShape,
    }),
    async run({ url, match, method, failed, bodies, since = 0, limit }, signal) {
      await actions.untilUsable(signal);
      const { traffic, mocks } = session.live;
      const fits = (seen: SeenRequest) =>
        seen.seq > since &&
        (method === undefined || seen.request.method() === method.toUpperCase()) &&
        (!failed || isFailed(seen));
      const fitting = traffic.requests.filter(fits);
      const isNamed = url === undefined ? () => true : await matcherFor(match, url, fitting.map(urlOf));
      const found = fitting.filter((seen) => isNamed(urlOf(seen)));
      const latest = found.slice(-limit);
      const withBodies = new Set(bodies ? latest.slice(-MOST_BODIES) : []);
      const shown = await Promise.all(latest.map((seen) => requestLine(seen, mocks, withBodies.has(seen))));
      const last = traffic.requests.at(-1)?.seq ?? since;
      return {
        message: counted(found.length, "request"),
        data: { requests: shown, ...rest(found, shown.length, last) },
      };
    },
  });
}

const urlOf = ({ request }: SeenRequest): string => request.url();
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** `last`: give it as `since` to read on. `older`: how many were left out. */
const rest = (all: readonly unknown[], shown: number, last: number) => ({
  last,
  ...(all.length > shown && { older: all.length - shown }),
});
