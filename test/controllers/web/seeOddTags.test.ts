import { expect, it } from "vitest";
import { openForTests, type SeeingPage } from "./seeSession.ts";

let see: SeeingPage;
openForTests((opened) => {
  see = opened;
});

const signal = new AbortController().signal;

// Every object has members of these names, which a table that is looked up by a page's words must not answer with.
it.each([
  "constructor",
  "valueof",
  "__proto__x",
  "__defineGetter__",
])("a tag, a role and an icon called %s are like any other of which nothing is known", async (name) => {
  const html = `<!doctype html><div id=of></div><p role="${name}">Plain</p><button><i class="fa fa-${name}"></i></button><script>
      const odd = document.createElementNS("http://www.w3.org/1999/xhtml", "${name}");
      odd.textContent = "Odd"; odd.tabIndex = 0; document.getElementById("of").append(odd)</script>`;
  await see.page.goto(`data:text/html,${encodeURIComponent(html)}`);
  const { elements } = await see.look.dump({ interactiveOnly: false }, signal);
  expect(elements.map(({ role, name, text }) => [role, name || text])).toEqual([
    ["clickable", "Odd"],
    ["paragraph", "Plain"],
    ["button", expect.any(String)],
  ]);
});
