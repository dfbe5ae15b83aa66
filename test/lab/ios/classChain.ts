import { everyNode, type TreeNode } from "../android/uia2/tree.ts";
import { readPredicate } from "./predicate.ts";
import { WireFailure } from "./wire.ts";

/**
 * A class chain of WebDriverAgent: types from a node downwards, `**` for any depth, then predicates between backticks, those of
 * a descendant between dollar signs, and places counted from 1, from the end where they are negative.
 */
export function selectByClassChain(from: TreeNode, chain: string): TreeNode[] {
  let nodes: TreeNode[] = [from];
  let isDeep = false;
  for (const step of stepsOf(chain)) {
    if (step === "**") {
      isDeep = true;
      continue;
    }
    nodes = nodes.flatMap((node) => selectStep(isDeep ? [...everyNode(node)] : node.children, step, chain));
    nodes = [...new Set(nodes)];
    isDeep = false;
  }
  return nodes;
}

/** Parts between slashes; a slash in a predicate parts nothing. */
function stepsOf(chain: string): string[] {
  const steps = chain.match(/(?:`[^`]*`|\$[^$]*\$|[^/`$])+/g) ?? [];
  if (steps.length === 0) throw invalid(chain);
  return steps;
}

function selectStep(nodes: readonly TreeNode[], step: string, chain: string): TreeNode[] {
  const [, type = "", tests = ""] = /^(\*|XCUIElementType\w+)((?:\[[\s\S]*\])?)$/.exec(step) ?? [];
  if (type === "") throw invalid(chain);
  let found = nodes.filter(({ tag }) => type === "*" || tag === type);
  for (const [, own, below, place] of tests.matchAll(/\[(?:`([^`]*)`|\$([^$]*)\$|(-?\d+))\]/g)) {
    if (own !== undefined) found = found.filter(readPredicate(own));
    else if (below !== undefined) {
      const test = readPredicate(below);
      found = found.filter((node) => [...everyNode(node)].some(test));
    } else
      found = [found.at(Number(place) > 0 ? Number(place) - 1 : Number(place))].flatMap((one) => one ?? []);
  }
  return found;
}

const invalid = (chain: string) =>
  new WireFailure("invalid selector", `Cannot parse class chain query '${chain}'`);
