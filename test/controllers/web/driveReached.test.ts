import { describe, expect, it } from "vitest";
import { asDeviceError } from "#controllers/web/page/failures.ts";
import { playwright } from "#controllers/web/page/playwright.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice());

const short = { timeout_ms: 1_000 };

describe("set_checked with links in its label", () => {
  const hidden = "<style>input { position: absolute; opacity: 0; width: 0; height: 0; margin: 0 }</style>";
  it.each([
    [
      "a hidden box",
      `${hidden}<label><input type=checkbox id=box>I agree to <a href='#terms'>the long terms of use</a></label>`,
    ],
    [
      "a hidden box beside its label",
      `${hidden}<input type=checkbox id=box><label for=box>I <button type=button onclick="location.hash='terms'">read all of the terms</button> agree</label>`,
    ],
    [
      "a label that is a link and nothing else",
      `${hidden}<label><input type=checkbox id=box aria-label=Agree><a href='#terms'>Terms</a></label>`,
    ],
  ])("%s", async (_, html) => {
    await device.show(html);
    await device.run("set_checked", { selector: "#box", ...short });
    expect(await device.js("return [box.checked, location.hash]")).toEqual([true, ""]);
  });

  it("a box that the page makes itself", async () => {
    await device.show(
      `<div id=box role=checkbox aria-checked=false tabindex=0 style="width: 200px"
         onclick="this.setAttribute('aria-checked', 'true')">ok <a href='#terms' onclick="event.stopPropagation()">the long terms of use</a></div>`,
    );
    await device.run("set_checked", { selector: "#box", ...short });
    expect(await device.js("return [box.ariaChecked, location.hash]")).toEqual(["true", ""]);
  });

  it("a click on the label itself ticks the box too", async () => {
    await device.show(
      `<label id=label><input type=checkbox id=box hidden> a <a href='#terms'>the long terms of use</a></label>`,
    );
    await device.run("click_element", { selector: "#label", ...short });
    expect(await device.js("return [box.checked, location.hash]")).toEqual([true, ""]);
  });

  it("says that a choice was not read back, where it left the page", async () => {
    await device.show(
      `<form action="about:blank"><select id=jump onchange="this.form.submit()"><option>Here<option>There</select></form>`,
    );
    const { message } = await device.run("select_option", { selector: "#jump", option: "There" });
    expect(message).toMatch(/not read back/);
  });
});

describe("a command that does not fit its element is a fault of the test", () => {
  it.each([
    [
      "press_key",
      { selector: "#slider", key: "ArrowLeft" },
      /cannot take the focus.*css=#slider span\.handle/,
    ],
    ["press_key", { selector: "#slider", key: "ArrowLeft", count: 2 }, /cannot take the focus/],
    ["type_text", { selector: "css=h1", text: "x" }, /<h1> cannot take the focus/],
    ["type_text", { selector: "#go", text: "x" }, /takes no text.*click_element/],
    ["input_text", { selector: "#go", text: "x" }, /does not fit/],
    ["set_checked", { selector: "css=h1" }, /does not fit/],
    ["select_option", { selector: "#go", option: "x" }, /does not fit/],
    ["click_element", { selector: "css=option[value=b]" }, /select_option.*"Blue".*#colour/],
  ])("%s %j", async (command, params, message) => {
    await device.show(`<h1>Title</h1><button id=go>Go</button><div id=slider><span class=handle tabindex=0>|</span></div>
      <select id=colour><option value=r>Red<option value=b>Blue</select>`);
    const failure = await failureOf(device.run(command, { ...params, ...short }));
    expect([failure.code, failure.message]).toEqual(["COMMAND_UNSUITABLE", expect.stringMatching(message)]);
  });

  it("a disabled field is not such a fault, and what can take the focus gets the key", async () => {
    await device.show(
      `<input id=off disabled><div id=slider><span id=handle tabindex=0 onkeydown="document.title = event.key">|</span></div>`,
    );
    expect((await failureOf(device.run("press_key", { selector: "#off", key: "a", ...short }))).code).toBe(
      "ELEMENT_NOT_ACTIONABLE",
    );
    await device.run("press_key", { selector: "#handle", key: "ArrowLeft", ...short });
    expect(await device.js("return document.title")).toBe("ArrowLeft");
  });
});

it("a typed text that reads like an error of the network is not one", async () => {
  await device.show("<input id=f readonly>");
  const params = { selector: "#f", text: "net::ERR_FAILED interrupted by another navigation", ...short };
  expect((await failureOf(device.run("input_text", params))).code).toBe("ELEMENT_NOT_ACTIONABLE");
});

describe("a text of two lines in a field of one", () => {
  it.each(["input_text", "type_text"])("%s", async (command) => {
    await device.show("<input id=f>");
    const failure = await failureOf(device.run(command, { selector: "#f", text: "one\ntwo", ...short }));
    expect([failure.code, failure.details.held]).toEqual([
      "INPUT_NOT_TAKEN",
      expect.stringMatching(/one ?two/),
    ]);
    expect(failure.message).toMatch(/several lines/);
  });

  it("is taken by a field of several, and where Enter sends a line", async () => {
    await device.show("<textarea id=f></textarea>");
    await device.run("input_text", { selector: "#f", text: "one\ntwo" });
    expect(await device.js("return f.value")).toBe("one\ntwo");
    await device.show(
      `<input id=f onkeydown="if (event.key === 'Enter') { document.title += f.value; f.value = '' }">`,
    );
    await device.run("type_text", { selector: "#f", text: "one\ntwo" });
    expect(await device.js("return [document.title, f.value]")).toEqual(["one", "two"]);
  });
});

describe("a click that another element is about to receive", () => {
  const noting = `<script>addEventListener("click", (event) => { document.title += event.target.id + " " })</script>`;
  const veil = "position: fixed; inset: 0";
  it.each([
    [
      "an overlay that the pointer brings",
      `<button id=go onmouseenter="veil.hidden = false">Go</button><div id=veil hidden style="${veil}"></div>`,
    ],
    [
      "one that is there from the press on",
      `<button id=go>Go</button><div id=veil style="${veil}; pointer-events: none"></div>
      <script>addEventListener("mousemove", () => { veil.style.pointerEvents = "auto" })</script>`,
    ],
    [
      "a button that runs away from the pointer",
      `<button id=go style="position: absolute" onmouseenter="this.style.left = (this.offsetLeft > 100 ? 0 : 300) + 'px'">Go</button>`,
    ],
  ])("does not reach the page, and fails with who took it: %s", async (_, html) => {
    for (const selector of ["Go", "#go"]) {
      await device.show(`${noting}${html}`);
      const failure = await failureOf(device.run("click_element", { selector, ...short }));
      // One that never stands still may be waited for until the time is over.
      expect(failure.code).toMatch(/^(ELEMENT_NOT_ACTIONABLE|COMMAND_TIMEOUT)$/);
      expect(await device.js("return document.title")).toBe("");
    }
  });

  it("so does a hover", async () => {
    await device.show(
      `<button id=go>Go</button><div id=veil style="${veil}; pointer-events: none"></div>
      <script>addEventListener("mousemove", () => { veil.style.pointerEvents = "auto" })</script>`,
    );
    await device.run("mouse_move", { x: 300, y: 300 });
    const failure = await failureOf(device.run("hover_element", { selector: "#go", ...short }));
    expect(failure.code).toMatch(/^(ELEMENT_NOT_ACTIONABLE|COMMAND_TIMEOUT)$/);
    expect(failure.message).toMatch(/veil/);
  });

  it("is tried again where the way is free in time", async () => {
    await device.show(`${noting}<button id=go onmouseenter="veil.hidden = false; setTimeout(() => veil.remove(), 300)">Go</button>
      <div id=veil hidden style="${veil}"></div>`);
    await device.run("click_element", { selector: "Go", timeout_ms: 4_000 });
    expect(await device.js("return document.title.trim()")).toBe("go");
  });

  it("the second of a double click counts", async () => {
    await device.show(
      `<button id=go onclick="veil.hidden = false">Go</button><div id=veil hidden style="${veil}"></div>`,
    );
    const failure = await failureOf(device.run("double_click", { selector: "#go", ...short }));
    expect([failure.code, failure.message]).toEqual([
      "ELEMENT_NOT_ACTIONABLE",
      expect.stringMatching(/id="veil"/),
    ]);
    await device.show(`<button id=go ondblclick="document.title = 'twice'">Go</button>`);
    await device.run("double_click", { selector: "#go" });
    expect(await device.js("return document.title")).toBe("twice");
  });
});

it("an element is called missing only where there was time to look for it", () => {
  const codeAfter = (ms: number) =>
    asDeviceError(
      new (playwright().errors.TimeoutError)(
        `locator.click: Timeout ${ms}ms exceeded.\nCall log:\n  - waiting for locator('#go')\n`,
      ),
      {
        command: "click_element",
        timeoutMs: 1_000,
        signal: new AbortController().signal,
        isAlive: () => true,
        wasDenied: () => false,
      },
    ).code;
  expect([codeAfter(900), codeAfter(3)]).toEqual(["ELEMENT_NOT_FOUND", "COMMAND_TIMEOUT"]);
});

it("a page that is busy with a click is waited for, and the click is done", async () => {
  await device.show(
    `<button onclick="const t = Date.now(); while (Date.now() - t < 5100); document.body.append('logged in')">Login</button>`,
  );
  await device.run("click_element", { selector: "Login" });
  expect(await device.js("return document.body.textContent")).toContain("logged in");
  await device.show(
    `<p id=p>x</p><iframe></iframe><button onclick="const t = Date.now(); while (Date.now() - t < 5100); p.append('logged in')">Login</button>`,
  );
  await device.run("click_element", { selector: "Login" });
  expect(await device.js("return p.textContent")).toContain("logged in");
}, 40_000);

it("an element is dragged by its corner, which resizes it", async () => {
  await device.show(`<textarea id=tt style="width:90px;height:70px"></textarea>`);
  const size = () => device.js("return [tt.offsetWidth, tt.offsetHeight]");
  const before = await size();
  await device.run("drag_by", { selector: "#tt", x: 100, y: 50, by: "bottom_right" });
  const [width, height] = [before, await size()].map((one) => (Array.isArray(one) ? one.map(Number) : []));
  expect([0, 1].map((at) => (height?.[at] ?? 0) - (width?.[at] ?? 0))).toEqual([100, 50]);
});
