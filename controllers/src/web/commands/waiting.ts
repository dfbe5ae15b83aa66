import { z } from "zod";
import { type Check, type Command, defineCommand, type Reading } from "../../contract.ts";
import { passes } from "../../elements/readings.ts";
import { hasTarget } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { poll } from "../../waiting/deadlines.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { bareChecks } from "../checks/checks.ts";

/** Pause between two reads; a read costs a few milliseconds. */
const LOOK_EVERY_MS = 100;

/** How much longer a read may take that began in time. */
const LAST_LOOK_MS = 3_000;

const waitInput = portable.wait_for.input.extend({
  url: z.string().min(1).max(2000).optional().describe("Part of the page's address."),
});
type WaitInput = z.output<typeof waitInput>;

type Condition = { check: Check; params: Readonly<Record<string, unknown>>; negated: boolean };

/** Waits for a condition; all that are given must hold in one read. */
export function waitCommands(session: DrivenSession): Command[] {
  const checks = new Map(bareChecks(session).map((check) => [check.name, check]));
  const waitFor = defineCommand({
    ...portable.wait_for,
    description: `${portable.wait_for.description} With url, until the address is reached.`,
    input: waitInput,
    async run(input, signal) {
      const conditions = conditionsOf(checks, input);
      const { timeout_ms: ms } = input;
      const started = performance.now();
      let unmet: Reading | undefined;
      const question = { what: "wait_for", ms, graceMs: LAST_LOOK_MS, signal, isOfApp: true };
      return ask(session, question, async (limited) => {
        const isMet = async () => {
          unmet = await firstUnmet(session, conditions, limited);
          return unmet === undefined;
        };
        if (!(await poll(isMet, { everyMs: LOOK_EVERY_MS, ms, signal: limited })))
          throw notReached(unmet, ms);
        const elapsed = Math.round(performance.now() - started);
        return { message: `held after ${elapsed} ms`, data: { elapsed_ms: elapsed } };
      });
    },
  });
  return [waitFor];
}

async function firstUnmet(
  session: DrivenSession,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<Reading | undefined> {
  for (const { check, params, negated } of conditions) {
    const reading = await readOnce(session, check, params, signal);
    if (!passes(check, params, reading, negated))
      return negated ? { ...reading, expected: `not: ${reading.expected}` } : reading;
  }
  return undefined;
}

/** A read while the document is being replaced fails: it saw nothing. */
async function readOnce(
  session: DrivenSession,
  check: Check,
  params: Condition["params"],
  signal: AbortSignal,
): Promise<Reading> {
  try {
    return await check.read(check.input.parse(params), signal);
  } catch (error) {
    if (error instanceof DeviceError || signal.aborted || !session.isAlive()) throw error;
    return { holds: false, expected: check.name, actual: "the page could not be looked at" };
  }
}

function notReached(unmet: Reading | undefined, timeoutMs: number): DeviceError {
  const nearest = unmet?.nearest ?? [];
  const near = nearest.length > 0 ? ` Nearest: ${nearest.join(", ")}.` : "";
  return new DeviceError(
    "COMMAND_TIMEOUT",
    `Waited ${timeoutMs} ms for: ${unmet?.expected}; found: ${unmet?.actual}.${near} Look at the screen, or wait longer with timeout_ms.`,
    { expected: unmet?.expected, actual: unmet?.actual, nearest },
  );
}

function conditionsOf(checks: ReadonlyMap<string, Check>, input: WaitInput): Condition[] {
  const conditions: Condition[] = [];
  const add = (name: string, params: Condition["params"], negated = false) => {
    const check = checks.get(name);
    if (check !== undefined) conditions.push({ check, params, negated });
  };
  const { ref, selector } = input;
  if (hasTarget(input)) add(`element_${input.state}`, ref === undefined ? { selector } : { ref });
  if (input.text !== undefined) add("text_visible", { text: input.text });
  if (input.text_gone !== undefined) add("text_visible", { text: input.text_gone }, true);
  if (input.url !== undefined) add("url_matches", { url: input.url });
  if (conditions.length > 0) return conditions;
  throw new DeviceError(
    "INVALID_PARAMS",
    "Nothing to wait for. Give ref or selector, text, text_gone or url.",
  );
}
