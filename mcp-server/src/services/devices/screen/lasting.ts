import { type Selector, secretNameOf } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import type { OpenDevice } from "../../ports.ts";
import { findCommand } from "../findCommand.ts";
import { findPort } from "../portOf.ts";

/** `ref`, `to_ref`, `of_ref`: each has a `selector` parameter that may replace it. */
const refKey = /^((?:\w+_)?)ref$/;

/** Commands or checks with selectors in place of refs; to be asked before they run. A ref without a unique selector stays. */
export async function withLastingSelectors<Command extends { params: Params }>(
  device: OpenDevice,
  commands: readonly Command[],
  signal: AbortSignal,
): Promise<Command[]> {
  const refs = [...new Set(commands.flatMap(({ params }) => refsIn(params).map(([, ref]) => ref)))];
  const source = refs.length > 0 ? await findPort(device, "elements", signal) : undefined;
  if (!source) return [...commands];
  const ranked = await source.selectors(refs, signal);
  const best = new Map(refs.map((ref, index) => [ref, ranked[index]?.find(isAlone)?.selector]));
  return commands.map((command) => ({ ...command, params: withSelectors(command.params, best) }));
}

/** Commands as a test keeps them: without passwords and refs, and with elements in place of points; to be asked before they run. */
export async function asRecorded<Command extends { command: string; params: Params }>(
  device: OpenDevice,
  commands: readonly Command[],
  signal: AbortSignal,
) {
  const hidden = await withoutPasswords(device, commands, signal);
  return withLastingSelectors(device, await withElementAt(device, hidden, signal), signal);
}

/**
 * The same commands, the first as a click on the element at its point, where a selector finds that alone. The other commands run on
 * screens that are not there yet.
 */
async function withElementAt<Command extends { command: string; params: Params }>(
  device: OpenDevice,
  commands: readonly Command[],
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const [first, ...rest] = commands;
  const { x, y, ...others } = first?.params ?? {};
  const isClick = first && /^tap(_x_y)?$/.test(first.command) && Object.keys(others).length === 0;
  if (!isClick || !findCommand(device, "click_element")) return commands;
  // A screen that cannot be read is still clicked.
  const selector = await selectorAt(device, Number(x), Number(y), signal).catch(() => undefined);
  return selector === undefined
    ? commands
    : [{ ...first, command: "click_element", params: { selector } }, ...rest];
}

/**
 * The same commands with the name of a secret in place of what is typed into a password field: the one that has the focus, or that is
 * named by its ref, its name or one of its selectors.
 */
async function withoutPasswords<Command extends { command: string; params: Params }>(
  device: OpenDevice,
  commands: readonly Command[],
  signal: AbortSignal,
): Promise<readonly Command[]> {
  if (!commands.some(({ command }) => isTyping.test(command))) return commands;
  const source = await findPort(device, "elements", signal);
  const dump = await source?.dump({ interactiveOnly: true }, signal).catch(() => undefined);
  const fields = dump?.elements.filter(({ about }) => about?.includes("password")) ?? [];
  if (!source || fields.length === 0) return commands;
  const refs = fields.map(({ ref }) => ref);
  const ranked = await source.selectors(refs, signal);
  const named = ({ ref, selector }: Params) =>
    fields.find(
      (field, at) =>
        [field.ref, field.name].includes(String(ref ?? selector)) ||
        ranked[at]?.some((one) => one.selector === selector),
    );
  let focus = fields.find(({ states }) => states.includes("focused"));
  return commands.map((one) => {
    const { command, params } = one;
    if (params.ref !== undefined || params.selector !== undefined) focus = named(params);
    if (!focus || !isTyping.test(command)) return one;
    return { ...one, params: { ...params, text: `{{secret.${secretNameOf(focus.name)}}}` } };
  });
}

const isTyping = /^(type|input)_text$/;

/** A selector of the smallest element that can be used at a point. */
async function selectorAt(device: OpenDevice, x: number, y: number, signal: AbortSignal) {
  const source = await findPort(device, "elements", signal);
  const dump = await source?.dump({ interactiveOnly: true }, signal);
  const isIn = (at: number, from: number, length: number) => at >= from && at < from + length;
  const [smallest] = (dump?.elements ?? [])
    .flatMap(({ ref, interactive, rect }) => (interactive && rect ? [{ ref, ...rect }] : []))
    .filter((one) => isIn(x, one.x, one.width) && isIn(y, one.y, one.height))
    .toSorted((a, b) => a.width * a.height - b.width * b.height);
  const ranked = smallest && (await source?.selectors([smallest.ref], signal));
  return ranked?.[0]?.find(isAlone)?.selector;
}

const isAlone = ({ unique }: Selector) => unique;

/** Whether a command is about an element of a snapshot. */
export const namesRef = ({ params }: { params: Params }): boolean => refsIn(params).length > 0;

const refsIn = (params: Params): [key: string, ref: string][] =>
  Object.entries(params).flatMap(([key, value]): [string, string][] =>
    refKey.test(key) && typeof value === "string" ? [[key, value]] : [],
  );

function withSelectors(params: Params, best: ReadonlyMap<string, string | undefined>): Params {
  const named = new Map(refsIn(params).map(([key, ref]) => [key, best.get(ref)]));
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => {
      const selector = named.get(key);
      return selector === undefined ? [key, value] : [key.replace(refKey, "$1selector"), selector];
    }),
  );
}
