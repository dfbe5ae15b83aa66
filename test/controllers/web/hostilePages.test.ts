import { expect, it } from "vitest";
import { fieldNames, replaced, widgets } from "../../fixtures/hostilePages.ts";
import { openForTests } from "./seeSession.ts";

const see = openForTests();

const signal = () => new AbortController().signal;

async function lookAt(head: string, body: string) {
  const html = `<!doctype html><head><script>${head}</script></head><body>${body}</body>`;
  await see.page.goto(`data:text/html,${encodeURIComponent(html)}`);
  const { elements } = await see.look.dump({ interactiveOnly: true }, signal());
  return elements.map(({ role, name }) => `${role} ${name}`);
}

it.each(replaced)("a snapshot does not depend on what the page has replaced: %s", async (head) => {
  const seen = await lookAt(head, widgets);
  expect(seen).toEqual(["button Save", "clickable Press", "button Inner"]);
  const reading = await see.read("element_visible", { selector: "role=button[name=Save]" });
  expect(reading).toMatchObject({ holds: true });
  await see.page
    .locator(
      "labwright=" +
        encodeURIComponent(JSON.stringify({ kind: "any", text: { match: "same", text: "Save" } })),
    )
    .click();
});

it.each(fieldNames)("a form may have a field named %s", async (name) => {
  const seen = await lookAt(
    "",
    `<form><label>Field <input name="${name}"></label><button>Send</button></form><img name="${name}" alt="">`,
  );
  expect(seen).toEqual(["textbox Field", "button Send"]);
});

it.each([
  "body",
  "querySelectorAll",
  "getElementById",
  "title",
  "activeElement",
  "createElement",
  "evaluate",
])("an image may be named %s, which the document then answers with it", async (name) => {
  expect(await lookAt("", `<img name="${name}" alt=""><button>Send</button>`)).toEqual(["button Send"]);
});
