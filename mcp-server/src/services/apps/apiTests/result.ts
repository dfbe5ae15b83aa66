import { type ApiTestResult, apiTestResultSchema } from "../../../domain/index.ts";
import { pageOf } from "../../values/pages.ts";

const findingTokens = 3_000;
const most = { not_reached: 20, timing: 5, notes: 10, saved: 20 } as const;

/** The result as tools show it: lists are cut, and `cut` says how much is left out of which. Empty for a run that goes on. */
export type ApiEnd = Partial<ApiTestResult> & { cut?: Record<string, number> };

export function apiEnd(output: unknown): ApiEnd {
  const parsed = apiTestResultSchema.safeParse(output);
  if (!parsed.success) return {};
  const result = parsed.data;
  const { saved } = result;
  const shown = {
    findings: pageOf(result.findings, 0, findingTokens).items,
    not_reached: result.not_reached.slice(0, most.not_reached),
    timing: result.timing.slice(0, most.timing),
    notes: result.notes.slice(0, most.notes),
    ...(saved && { saved: saved.slice(0, most.saved) }),
  };
  const cut = Object.entries(shown).flatMap(([name, list]) => {
    const all: unknown = Reflect.get(result, name);
    const left = Array.isArray(all) ? all.length - list.length : 0;
    return left > 0 ? [[name, left]] : [];
  });
  return { ...result, ...shown, ...(cut.length > 0 && { cut: Object.fromEntries(cut) }) };
}
