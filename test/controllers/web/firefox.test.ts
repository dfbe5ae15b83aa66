import { fileURLToPath } from "node:url";
import { findProgram } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Site, startSite } from "../../fixtures/site.ts";
import { asking, childFrame, expectPatternsFind, expectSlowPatternEnds, ownFrame } from "./slowPattern.ts";
import { failureOf, openWebDevice, type WebDevice } from "./webDevice.ts";

/** Firefox as Debian has it, by WebDriver BiDi; what the wrapper adds is said there. */
const executable_path = fileURLToPath(new URL("../../fixtures/firefoxBidi.mjs", import.meta.url));

const isThere = findProgram("firefox-esr") !== undefined || process.env.CI === "true";

let site: Site;
let device: WebDevice;
beforeAll(async () => {
  if (!isThere) return;
  site = await startSite();
  const settings = { browser: "firefox", channel: "moz-firefox", executable_path };
  device = await openWebDevice({ settings, denyUrl: (url) => url.endsWith("/second") });
}, 120_000);
afterAll(async () => {
  await device?.close();
  await site?.close();
});

describe.skipIf(!isThere)("a Firefox that is installed", () => {
  test("is driven and judged like Chromium: clicks, fields, lists, boxes, checks and pictures", async () => {
    await device.show(`<h1>Welcome</h1><label>Name <input id=name value=old></label>
      <label>Size <select id=size><option>Small<option>Large</select></label>
      <label><input type=checkbox id=agree> Agree</label>
      <button onclick="out.textContent = 'Hello ' + document.querySelector('#name').value">Greet</button><p id=out></p>`);
    await device.run("input_text", { selector: "Name", text: "Anna" });
    await device.run("select_option", { selector: "Size", option: "Large" });
    await device.run("set_checked", { selector: "Agree", checked: true });
    await device.run("click_element", { selector: "Greet" });
    expect(await device.check("text_visible", { text: "Hello Anna" })).toMatchObject({ holds: true });
    expect(await device.check("text_visible", { text: "Hello Bob" })).toMatchObject({ holds: false });
    expect(await device.check("accessible", { rules: ["label", "button-name"] })).toMatchObject({
      holds: true,
    });
    expect(await device.check("accessible", { rules: ["html-has-lang"] })).toMatchObject({ holds: false });
    expect(await device.check("page_vitals", { max_cls: 1 })).toMatchObject({
      inconclusive: "CLS unknown: this browser does not report it",
    });
    expect(await device.check("element_value", { selector: "Size", value: "Large" })).toMatchObject({
      holds: true,
    });
    expect(await device.check("element_checked", { selector: "Agree" })).toMatchObject({ holds: true });
    expect(device.web.facts?.()).toMatchObject({ version: expect.stringMatching(/^moz-firefox \d/) });
    const failure = await failureOf(device.run("click_element", { selector: "Nowhere", timeout_ms: 500 }));
    expect(failure.code).toBe("ELEMENT_NOT_FOUND");
  });

  test("hears the keys of a field that React controls", async () => {
    await device.show(`<input id=f value=old><script>
      const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
      let known = f.value;
      Object.defineProperty(f, "value", { get() { return own.get.call(this); }, set(v) { known = v; own.set.call(this, v); } });
      f.oninput = () => { if (f.value !== known) { known = f.value; own.set.call(f, f.value.toUpperCase()); known = f.value; } };
    </script>`);
    await device.run("input_text", { selector: "#f", text: "abc" });
    expect(await device.js("return document.querySelector('#f').value")).toBe("ABC");
    await device.run("input_text", { selector: "#f", text: "" });
    expect(await device.js("return document.querySelector('#f').value")).toBe("");
  });

  test("compares the patterns of selectors outside of its pages", async () => {
    await expectSlowPatternEnds(device, ownFrame, asking.click);
    await expectSlowPatternEnds(device, childFrame, asking.check);
    await expectPatternsFind(device, String, "");
  });

  test("opens only the addresses that the policy allows", async () => {
    const failure = await failureOf(device.run("navigate_to_url", { url: `${site.url}/second` }));
    expect(failure.code).toBe("URL_DENIED");
  });

  test("reads its console and requests", async () => {
    await device.run("navigate_to_url", { url: `${site.url}/errors` });
    await device.run("click_element", { selector: "Throw" });
    const lines = async () =>
      (await device.run("read_console", { levels: ["error", "exception"] })).data?.lines;
    await expect
      .poll(lines)
      .toEqual(
        expect.arrayContaining([
          expect.objectContaining({ level: "error", text: "told so" }),
          expect.objectContaining({ level: "exception", text: expect.stringContaining("null") }),
        ]),
      );
    const read = await device.run("read_network", { url: "/errors", limit: 1 });
    expect(read.data?.requests).toMatchObject([
      { method: "GET", type: "document", status: 200, ms: expect.any(Number) },
    ]);
  });

  test("mocks requests, and the policy for addresses stays", async () => {
    const result = async () => {
      await device.run("navigate_to_url", { url: `${site.url}/fetcher?url=/data.json` });
      const text = async () => (await device.run("get_text", { selector: "css=#result" })).data?.value;
      await expect.poll(text).not.toBe("asking");
      return text();
    };
    // The address of the page ends in it, too.
    const requests = { url: "\\d/data\\.json$", match: "pattern" };
    await device.run("mock_request", { ...requests, fail: "refused", times: 1 });
    expect(await result()).toBe("refused");
    expect(await result()).toBe("allowed");
    await device.run("mock_request", { ...requests, answer: { status: 201, body: { a: 1 } } });
    expect(await result()).toBe("allowed");
    const read = await device.run("read_network", { ...requests, bodies: true, limit: 1 });
    expect(read.data?.requests).toMatchObject([{ status: 201, mocked: true, answer: '{"a":1}' }]);
    await device.run("mock_request", { url: "/second", delay_ms: 1 });
    const failure = await failureOf(device.run("navigate_to_url", { url: `${site.url}/second` }));
    expect(failure.code).toBe("URL_DENIED");
    await device.run("mock_request", {});
  });

  test("has cookies and storage by name", async () => {
    await device.run("navigate_to_url", { url: `${site.url}/storage` });
    await device.run("set_cookie", { name: "user", value: "ada" });
    await device.run("set_storage", { name: "item", value: "kept" });
    expect(await device.js("return document.cookie + localStorage.getItem('item')")).toBe("user=adakept");
    expect((await device.run("get_cookies", { name: "user" })).data?.cookies).toMatchObject([
      { value: "ada" },
    ]);
    expect((await device.run("get_storage")).data?.items).toEqual([{ name: "item", value: "kept" }]);
    await device.run("delete_cookies");
    expect(await device.js("return document.cookie")).toBe("");
  });

  test("withholds what a page would not notice, and says what cannot be set", async () => {
    const withheld = device.web.withheld?.().map(({ name }) => name);
    expect(withheld).toEqual(["double_click", "triple_click", "drag_and_drop", "emulate_media"]);
    const failure = await failureOf(device.run("set_network", { speed: "slow_3g" }));
    expect(failure.code).toBe("COMMAND_UNSUITABLE");
  });
});
