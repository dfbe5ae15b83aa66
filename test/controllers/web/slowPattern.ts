import { expect } from "vitest";
import type { WebDevice } from "./webDevice.ts";

const slow = `<button>${"a".repeat(60)}!</button><input aria-label="${"a".repeat(60)}!">`;

export const ownFrame = `${slow}<h1>Other</h1>`;
export const childFrame = `<iframe srcdoc='${slow}'></iframe><h1>Other</h1>`;

const button = { selector: "role=button[name=/^(a+)+$/]" };
/** Ways to name an element by a pattern. */
export const asking = {
  click: (device: WebDevice) => device.run("click_element", button),
  fill: (device: WebDevice) => device.run("input_text", { selector: "label=/^(?:a|aa)+$/", text: "x" }),
  wait: (device: WebDevice) => device.run("wait_for", { selector: "text=/^(a*)*$/i" }),
  check: (device: WebDevice) => device.check("element_exists", button),
};

/** Ends with an error, while the page answers another question, and is alive afterwards. */
export async function expectSlowPatternEnds(
  device: WebDevice,
  body: string,
  ask: (device: WebDevice) => Promise<unknown>,
): Promise<void> {
  await device.show(body);
  let isOver = false;
  const over = ask(device)
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  expect(await device.check("element_exists", { selector: "Other" })).toMatchObject({ holds: true });
  expect(isOver).toBe(false);
  expect(await over).toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringContaining("avoid repeats within repeats"),
  });
  expect(await device.js("return 1 + 1")).toBe(2);
}

/** A page whose text changes all the time: in each frame, and of a field that is drawn anew. */
const ticking = `<button onclick="out.textContent = 'pressed'">At 0 s</button><p id=out></p>
  <label>Field 0 <input oninput="if (this.value === 'typed') { const again = this.parentNode.cloneNode(true); again.control.value = 'typed'; this.parentNode.replaceWith(again); }"></label><script>
  const [button, text] = [document.querySelector("button"), document.querySelector("label").firstChild];
  let at = 0;
  (function tick() { button.textContent = "At " + ++at + " s"; requestAnimationFrame(tick); })();
  setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<h2>Total: 12.50</h2>"), 200);
</script>`;

/** Patterns find, wait for, press and fill what they match, also where the text is another in each picture. */
export async function expectPatternsFind(
  device: WebDevice,
  frame: (body: string) => string,
  note: string,
): Promise<void> {
  await device.show(frame(ticking));
  await device.run("wait_for", { selector: "text=/^total: \\d+\\.50$/i" });
  await device.run("click_element", { selector: "role=button[name=/^At \\d+ s$/]" });
  expect(await device.check("text_visible", { text: "pressed" })).toMatchObject({ holds: true });
  const filled = await device.run("input_text", { selector: "label=/^Field \\d$/u", text: "typed" });
  expect(filled.message).toBe(`filled label=/^Field \\d$/u${note}`);
  const read = await device.run("get_text", { selector: "text=/^At \\d+ s$/" });
  expect(read.data?.value).toMatch(/^At \d+ s$/);
  expect(
    await device.check("element_text", { selector: "text=/^Total/", text: "Total: 12.50" }),
  ).toMatchObject({
    holds: true,
  });
  for (const selector of ["text=/^TOTAL/", "role=button[name=/^At \\d$/]", "label=/^ield/"])
    expect(await device.check("element_exists", { selector })).toMatchObject({ holds: false });
}
