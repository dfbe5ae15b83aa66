import type { Element } from "@labwright/controllers";
import { locate } from "#controllers/web/acting/locate.ts";
import { findElements } from "#mcp-server/services/devices/screen/find.ts";
import { renderElements } from "#mcp-server/services/devices/screen/render.ts";
import { openForTests, signal } from "./seeSession.ts";

/** A dump as a model reads it, without its refs. */
export const read = (elements: readonly Element[]) =>
  renderElements(elements, { maxTokens: 5_000 })
    .text.replace(/(^|[ :(])e\d+ /gm, "$1")
    .split("\n")
    .map((line) => line.trim());

/** A browser for the tests of a file, and how they read pages in it. */
export function openReader() {
  const see = openForTests();
  async function look(html: string, interactiveOnly = true): Promise<readonly Element[]> {
    await see.page.setContent(html);
    return (await see.look.dump({ interactiveOnly }, signal)).elements;
  }

  const dump = async (html: string, interactiveOnly = true) => read(await look(html, interactiveOnly));
  const find = async (html: string, query: string) => read(findElements(await look(html, false), query));
  /** Clicks what `find` gives first, and says what the page has heard. */
  async function click(html: string, query: string): Promise<string> {
    const elements = await look(`<script>const said=[];const say=(x)=>{said.push(x)}</script>${html}`, false);
    const ref = findElements(elements, query)[0]?.ref ?? "none";
    await (await locate(see.session, { ref }, signal)).click({ timeout: 5_000 });
    return String(await see.page.evaluate("said.join()"));
  }

  return { see, look, dump, find, click };
}
