import { expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice());

const form = `<form><label>Name <input id=name value="Ada"></label><label><input type=checkbox id=gift> Gift</label>
  <label>Size <select id=size><option>Small<option>Large</select></label><label>Volume <input type=range id=volume></label>
  <p id=text>Some words to select</p></form>`;
const gone = "() => { throw new Error('replaced') }";

it.each([
  [
    "replaces methods",
    `<script>
    for (const name of ["matches", "closest", "querySelector", "querySelectorAll", "getAttribute", "getBoundingClientRect"])
      Element.prototype[name] = ${gone};
    Array.prototype.map = Array.prototype.filter = ${gone}; JSON.stringify = () => "null"; Document.prototype.createTreeWalker = ${gone};
    HTMLElement.prototype.focus = HTMLInputElement.prototype.setSelectionRange = () => {};
  </script>`,
  ],
  ["lets no script of others run", `<meta http-equiv=Content-Security-Policy content="default-src 'none'">`],
])("commands do not depend on a page that %s", async (_, head) => {
  await device.run("navigate_to_url", {
    url: `data:text/html,${encodeURIComponent(`<!doctype html>${head}${form}`)}`,
  });
  await device.run("type_text", { selector: "#name", text: " Lovelace" });
  await device.run("set_checked", { selector: "#gift", checked: true });
  await device.run("select_option", { selector: "#size", option: "Large" });
  await device.run("set_slider", { selector: "#volume", value: 70 });
  await device.run("select_text", { selector: "#text", text: "words to" });
  const holds = async (name: string, input: Record<string, unknown>) => {
    const check = device.web.checks.find((one) => one.name === name);
    return (await check?.read(check.input.parse(input), new AbortController().signal))?.holds;
  };
  expect(await holds("element_value", { selector: "#name", value: "Ada Lovelace" })).toBe(true);
  expect(await holds("element_checked", { selector: "#gift" })).toBe(true);
  expect(await holds("element_value", { selector: "#size", value: "Large" })).toBe(true);
  expect(await holds("element_value", { selector: "#volume", value: "70" })).toBe(true);
  expect(await holds("selected_text", { text: "words to" })).toBe(true);
  expect(await holds("layout", { selector: "#text", is: "in_window" })).toBe(true);
  expect(await holds("layout", { selector: "#text", is: "not_covered" })).toBe(true);
});
