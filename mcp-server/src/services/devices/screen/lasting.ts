import type { Selector } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import type { OpenDevice } from "../../ports.ts";
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

const isAlone = ({ unique }: Selector) => unique;

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
