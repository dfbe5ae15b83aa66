import type { Check, Reading } from "@labwright/controllers";
import { passes } from "@labwright/controllers";

export type Params = Readonly<Record<string, unknown>>;
/**
 * Parameters of a check by its subject. `there`: it holds. `absent`: there is no subject. `wrong`: the subject is of a kind that
 * the check says nothing of. `presence`: the opposite holds of what is absent.
 */
export type SubjectRow = { there?: Params; absent?: Params; wrong?: Params; presence?: true };
export type SubjectRows = Readonly<Record<string, SubjectRow>>;

type Answer = readonly [plain: boolean, negated: boolean];
const signal = new AbortController().signal;

/** What a row asks for: nothing passes without a subject, but for the opposite of a check of presence. */
const wanted = (row: SubjectRow): Readonly<Record<"there" | "absent" | "wrong", Answer>> => ({
  there: [true, false],
  absent: [false, row.presence === true],
  wrong: [false, false],
});

/** A line for each verdict that is not as its row asks, and for each check without a row or row without a check. */
export async function wrongVerdicts(checks: readonly Check[], rows: SubjectRows): Promise<string[]> {
  const names = checks.map(({ name }) => name);
  const lines = [
    ...names.filter((name) => !Object.hasOwn(rows, name)).map((name) => `${name} has no row`),
    ...Object.keys(rows).flatMap((name) => (names.includes(name) ? [] : [`no check ${name}`])),
  ];
  for (const check of checks) {
    const row = rows[check.name] ?? {};
    for (const subject of ["there", "absent", "wrong"] as const) {
      const params = row[subject];
      if (params !== undefined) lines.push(...(await judged(check, params, subject, wanted(row)[subject])));
    }
  }
  return lines;
}

async function judged(check: Check, params: Params, subject: string, answer: Answer): Promise<string[]> {
  const input = check.input.parse(params);
  const reading: Reading = await check.read(input, signal);
  const found = [passes(check, input, reading, false), passes(check, input, reading, true)];
  const isLoose = subject === "wrong" && reading.inconclusive === undefined;
  if (String(found) === String(answer) && !isLoose) return [];
  return [`${check.name} ${subject}: ${JSON.stringify(found)}, ${JSON.stringify(reading)}`];
}

const words = { match: "same" } as const;

/** The portable checks of elements, on things by their names. */
export function portableRows(things: {
  checkbox: string;
  field: string;
  button: string;
  label: string;
  focused?: string;
}): SubjectRows {
  const none = { selector: "Nowhere to be found" };
  const of = (selector: string) => ({ selector });
  return {
    element_exists: { there: of(things.button), absent: none, presence: true },
    element_visible: { there: of(things.button), absent: none, presence: true },
    // What is not there is hidden, so its opposite does not hold.
    element_hidden: { there: none },
    element_text: {
      there: { ...of(things.button), text: things.button },
      absent: { ...none, text: things.button, ...words },
    },
    element_value: {
      there: { ...of(things.field), value: "" },
      absent: { ...none, value: "" },
      wrong: { ...of(things.button), value: "" },
    },
    element_checked: { there: of(things.checkbox), absent: none, wrong: of(things.label) },
    element_enabled: { there: of(things.button), absent: none, wrong: of(things.label) },
    element_focused: { ...(things.focused !== undefined && { there: of(things.focused) }), absent: none },
    element_state: {
      there: { ...of(things.checkbox), state: "on" },
      absent: { ...none, state: "on" },
      wrong: { ...of(things.label), state: "selected" },
    },
    element_count: {
      there: { ...of(things.button), count: 1 },
      absent: { ...none, min: 1 },
      presence: true,
    },
    text_visible: { there: { text: things.button }, absent: { text: "Nowhere to be found" }, presence: true },
  };
}
