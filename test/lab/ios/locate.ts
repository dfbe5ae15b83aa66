import { everyNode, type TreeNode } from "../android/uia2/tree.ts";
import { selectByXPath } from "../android/uia2/xpath.ts";
import { selectByClassChain } from "./classChain.ts";
import { readPredicate } from "./predicate.ts";
import { WireFailure } from "./wire.ts";

/** What a strategy finds below a node, in the order of the screen. */
export function locate(from: TreeNode, { using, value }: { using: string; value: string }): TreeNode[] {
  const all = [...everyNode(from)];
  switch (using) {
    case "accessibility id":
    case "id":
    case "name":
      return all.filter(({ attributes }) => attributes.get("name") === value);
    case "class name":
      return all.filter(({ tag }) => tag === value);
    case "-ios predicate string":
      return all.filter(readPredicate(value));
    case "-ios class chain":
      return selectByClassChain(from.tag === "AppiumAUT" ? (from.children[0] ?? from) : from, value);
    case "xpath":
      return selectByXPath(from, value);
    default:
      throw new WireFailure(
        "invalid selector",
        `Locator Strategy '${using}' is not supported for this session`,
      );
  }
}
