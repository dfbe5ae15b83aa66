import type { Dump, Selector } from "@labwright/controllers";
import type { ActionAnalysis, ActionCandidate } from "../../ports.ts";
import { pageOf } from "../../values/pages.ts";
import type { Fit, Ranked } from "./candidates.ts";
import { reasonsOf } from "./stability.ts";

/** What is told of a ranking; `selectors` are those of its first fits, best first for each, as the screen gave them. */
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

/** What to do next, where that does not go without saying. */
function hintFor(candidates: readonly ActionCandidate[], tied: number): string | undefined {
  const [best] = candidates;
  if (!best)
    return "Nothing on this screen is that. Ask by the words it shows, scroll, or look with dump_ui_elements.";
  if (tied > 0)
    return "Describe the wanted one more precisely, or choose it by where and use its own selector.";
  if (best.command === undefined) return "The device has no command that uses it; list_actions shows all.";
  return best.unique ? undefined : "No selector names it alone: use ref, which lasts while it is there.";
}
