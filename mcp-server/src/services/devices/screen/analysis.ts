import { type Dump, ranking, type Selector } from "@labwright/controllers";
import type { ActionAnalysis, ActionCandidate } from "../../ports.ts";
import { pageOf } from "../../values/pages.ts";
import type { Fit, Ranked } from "./intent.ts";

/** What is reported of a ranking; `selectors` are those of its first fits, best first for each, as the screen gave them. */
export function viewOf(
  { generation, location, notices }: Dump,
  { fits, tied, leftOut, nearest }: Ranked,
  selectors: readonly (readonly Selector[])[],
  maxTokens: number,
): ActionAnalysis {
  const known = selectors.map((own, at) => ({ fit: fits[at], selector: own[0] }));
  const all = known.flatMap(({ fit, selector }) => (fit ? [candidateOf(fit, selector)] : []));
  const { items: candidates } = pageOf(all, 0, maxTokens);
  const more = fits.length - candidates.length;
  const hint = hintFor(candidates, tied);
  return {
    generation,
    location,
    ...(notices.length > 0 && { notices: [...notices] }),
    candidates,
    ...(tied > 0 && { ambiguous: tied }),
    ...(leftOut.length > 0 && { left_out: leftOut.join("\n") }),
    ...(nearest.length > 0 && { nearest: nearest.join("\n") }),
    ...(hint !== undefined && { hint }),
    ...(more > 0 && { more }),
  };
}

function candidateOf({ element, command, where }: Fit, selector: Selector | undefined): ActionCandidate {
  const { ref, role, name } = element;
  return {
    ref,
    role,
    name,
    ...(command !== undefined && { command }),
    ...(selector && {
      selector: selector.selector,
      unique: selector.unique,
      stability: selector.score,
      why: reasonsOf(selector).join(", "),
    }),
    ...(where !== undefined && { where }),
  };
}

function hintFor(candidates: readonly ActionCandidate[], tied: number): string | undefined {
  const [best] = candidates;
  if (!best)
    return "Nothing on this screen is that. Ask by the words it shows, scroll, or look with dump_ui_elements.";
  if (tied > 0)
    return "Describe the wanted one more precisely, or choose it by where and use its own selector.";
  if (best.command === undefined) return "The device has no command that uses it; list_actions shows all.";
  return best.unique ? undefined : "No selector names it alone: use ref, which lasts while it is there.";
}

const kinds: Readonly<Record<Selector["kind"], string>> = {
  testid: "test id",
  role: "role and name",
  label: "label",
  placeholder: "placeholder",
  id: "id",
  text: "text",
  css: "place in the screen's structure",
  xpath: "place in the screen's structure",
  native: "what the device's own driver reads",
};

/** What speaks for and against a selector being good tomorrow, in a few words each. */
export function reasonsOf({ kind, selector, unique }: Selector): string[] {
  const value = selector.replace(/^[a-z]+=/, "");
  const isId = kind === "id" || kind === "testid";
  const isWritten = !isId && kind !== "css" && kind !== "xpath" && kind !== "native";
  const changes = isWritten ? ranking.changingPart(value) : undefined;
  return [
    kinds[kind],
    ...(changes ? [`has ${changes.what} in it`] : []),
    ...(isId && ranking.isGenerated(value) ? ["looks generated"] : []),
    ...(unique ? [] : ["not unique on this screen"]),
  ];
}
