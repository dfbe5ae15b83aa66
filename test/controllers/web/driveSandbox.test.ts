import { expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice());

it("what a snapshot lists of a frame whose scripts are off can be acted on", async () => {
  const inner = `<label>Name <input></label><label><input type=checkbox> Gift</label><select aria-label=Size><option>Small<option>Large</select>
    <details><summary>More</summary><p>Opened</p></details>`;
  const frame = `<iframe sandbox style="width:400px;height:300px" srcdoc="${inner.replaceAll('"', "&quot;")}"></iframe>`;
  await device.show(frame);
  const never = new AbortController().signal;
  const { elements = [] } = (await device.web.elements?.dump({ interactiveOnly: true }, never)) ?? {};
  const refOf = (name: string) => elements.find((one) => one.name === name)?.ref ?? `no ${name}`;
  await device.run("input_text", { ref: refOf("Name"), text: "Ada" });
  await device.run("set_checked", { ref: refOf("Gift"), checked: true });
  await device.run("select_option", { ref: refOf("Size"), option: "Large" });
  await device.run("click_element", { ref: refOf("More") });
  for (const [name, input] of [
    ["element_value", { selector: "Name", value: "Ada" }],
    ["element_checked", { selector: "Gift" }],
    ["element_value", { selector: "Size", value: "Large" }],
    ["text_visible", { text: "Opened" }],
  ] as const)
    expect(await device.check(name, input), name).toMatchObject({ holds: true });
});
