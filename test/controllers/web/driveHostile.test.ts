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
  await device.show(form, head);
  await device.run("type_text", { selector: "#name", text: " Lovelace" });
  await device.run("set_checked", { selector: "#gift", checked: true });
  await device.run("select_option", { selector: "#size", option: "Large" });
  await device.run("set_slider", { selector: "#volume", value: 70 });
  await device.run("select_text", { selector: "#text", text: "words to" });
  for (const [name, input] of [
    ["element_value", { selector: "#name", value: "Ada Lovelace" }],
    ["element_checked", { selector: "#gift" }],
    ["element_value", { selector: "#size", value: "Large" }],
    ["element_value", { selector: "#volume", value: "70" }],
    ["selected_text", { text: "words to" }],
    ["layout", { selector: "#text", is: "in_window" }],
    ["layout", { selector: "#text", is: "not_covered" }],
  ] as const)
    expect(await device.check(name, input), name).toMatchObject({ holds: true });
});
