import { countText } from "../../domain/index.ts";
import type { ToolError } from "../../errors.ts";
import { counted } from "../terminal.ts";
import type { GatedTest } from "./gate.ts";
import type { Planned } from "./plan.ts";
import type { NotRun } from "./reportFiles.ts";

/** A test that was started; `at` is its place among the tests of its group. */
export type Ran = {
  at: number;
  status: string;
  flaky: boolean;
  executionId: string | undefined;
  /** How long it took. */
  ms: number | undefined;
  /** It ran in a browser, and a gate asks for that. */
  hasConsole: boolean;
  /** What was recorded of it. */
  files: string[];
  error?: string;
  /** Its entry of the matrix. */
  group?: string;
};

/** The tests of an entry of the matrix, or of a run without one. `missing`: what the entry needs cannot be had, so none of them ran. */
export type Group = {
  name?: string;
  rounds: readonly Planned[];
  ran: readonly Ran[];
  missing?: ToolError;
};

const unstarted = ({ rounds, ran }: Group) =>
  rounds.filter((_, at) => !ran.some((one) => one.at === at)).map(({ name }) => name);

/** The names of the tests that could have run, but the run ended before. */
export const leftOf = (group: Group): string[] => (group.missing ? [] : unstarted(group));

/** Every test of a group, in its order, also those that did not run. */
export const gatedTests = ({ rounds, ran }: Group): GatedTest[] =>
  rounds.map(({ name }, place) => {
    const end = ran.find(({ at }) => at === place);
    return end
      ? { ...end, name }
      : { name, status: "not run", flaky: false, executionId: undefined, ms: undefined, hasConsole: false };
  });

const reasonOf = ({ code, message, hint }: ToolError) => `${code}: ${message} ${hint}`.trim();

/** The tests of a group that a report names without an execution. */
export function notRunOf(group: Group): NotRun[] {
  const failed = group.ran.flatMap(({ at, error }) =>
    error === undefined ? [] : [{ name: group.rounds[at]?.name ?? "", error }],
  );
  const error = group.missing && reasonOf(group.missing);
  const others = unstarted(group).map((name) => ({ name, ...(error !== undefined && { error }) }));
  return [...failed, ...others].map((one) => ({
    ...one,
    ...(group.name !== undefined && { group: group.name }),
  }));
}

export const missingText = (name: string, why: ToolError, tests: number): string =>
  `${name}: cannot be used, so ${counted(tests, "test")} did not run on it. ${reasonOf(why)}\n`;

/** How an entry of the matrix ended. */
export function groupText(group: Group): string {
  const { name = "", ran, rounds, missing } = group;
  const end = missing
    ? `${counted(rounds.length, "test")} not run: ${missing.code}`
    : countText(ran, leftOf(group).length);
  return `${name}: ${end}\n`;
}
