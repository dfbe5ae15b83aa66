import type { CDPSession } from "playwright-core";
import { agentSource } from "#controllers/web/page/inpage.ts";

/** Roles in which our word differs from Chromium's; the element is the same. */
const ourRoles = new Map([
  ["ColorWell", "colour"],
  ["searchbox", "searchbox"],
]);
const compared =
  /^(button|checkbox|combobox|gridcell|heading|image|link|listbox|menuitem|option|radio|searchbox|slider|spinbutton|switch|tab|textbox|treeitem|row|cell|columnheader|table|dialog|group|progressbar|meter|ColorWell)$/;

/** Lines for each element whose name is another one than in Chromium's accessibility tree, and how many were compared. */
export async function nameDifferences(
  cdp: CDPSession,
  page: string,
): Promise<{ lines: string[]; compared: number }> {
  const { nodes } = await cdp.send("Accessibility.getFullAXTree");
  const lines: string[] = [];
  let count = 0;
  for (const { ignored, role, name, backendDOMNodeId } of nodes) {
    const kind = String(role?.value ?? "");
    if (ignored || backendDOMNodeId === undefined || !compared.test(kind)) continue;
    const said = String(name?.value ?? "")
      .replace(/\s+/g, " ")
      .trim();
    const ours = await ourName(cdp, backendDOMNodeId);
    if (ours === undefined) continue;
    count++;
    if (ours !== said)
      lines.push(
        `${page}: ${ourRoles.get(kind) ?? kind} ${JSON.stringify(said)}, ours ${JSON.stringify(ours)}`,
      );
  }
  return { lines, compared: count };
}

async function ourName(cdp: CDPSession, backendNodeId: number): Promise<string | undefined> {
  const { object } = await cdp.send("DOM.resolveNode", { backendNodeId });
  if (object.objectId === undefined) return undefined;
  const { result } = await cdp.send("Runtime.callFunctionOn", {
    objectId: object.objectId,
    returnByValue: true,
    functionDeclaration: `function () {
      const options = { limit: 1, selectors: false, testIdAttribute: "data-testid" };
      return ${agentSource}.describeElement(this, options).name;
    }`,
  });
  return typeof result.value === "string" ? result.value : undefined;
}
