import { describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const log = `<ol id="log"></ol><script>
  const note = (text) => { const li = document.createElement("li"); li.textContent = text; log.append(li); };
</script>`;

/** A slider of the page's own: a thumb on a track of 200 pixels. Keys move it by `step`, the mouse to where it is let go. */
const ownSlider = (
  step: number,
  keys: boolean,
) => `<div style="width: 200px; height: 20px; position: relative; margin: 30px">
  <div id="thumb" role="slider" tabindex="0" aria-label="Volume" aria-valuemin="0" aria-valuemax="1000" aria-valuenow="0"
    style="position: absolute; width: 10px; height: 20px; background: red; left: -5px"></div></div><script>
  const set = (value) => requestAnimationFrame(() => {
    const held = Math.max(0, Math.min(1000, Math.round(value / ${step}) * ${step}));
    thumb.setAttribute("aria-valuenow", held); thumb.style.left = held / 5 - 5 + "px";
  });
  const now = () => Number(thumb.getAttribute("aria-valuenow"));
  if (${keys}) thumb.onkeydown = ({ key }) => set(now() + ({ ArrowRight: ${step}, ArrowLeft: -${step} }[key] ?? 0));
  let down = false;
  thumb.onmousedown = () => { down = true };
  onmousemove = (event) => { if (down) set((event.clientX - thumb.parentElement.getBoundingClientRect().x) * 5) };
  onmouseup = () => { down = false };
</script>`;

const pages: Record<string, string> = {
  "/keys": `${log}<input aria-label="Pad" onkeydown="note(event.key + ' down')" onkeyup="note(event.key + ' up')">
    <label>Steps <input id="steps" type="number" value="0"></label>`,
  "/drag": `<div id="box" style="position: absolute; left: 100px; top: 100px; width: 40px; height: 40px; background: red">Box</div>
    <script>let from; box.onpointerdown = (e) => { from = [e.clientX - box.offsetLeft, e.clientY - box.offsetTop]; };
    onpointermove = (e) => { if (from) { box.style.left = e.clientX - from[0] + "px"; box.style.top = e.clientY - from[1] + "px"; } };
    onpointerup = () => { from = undefined; };</script>`,
  // As split panes do: while the gutter is held, the panes take no mouse.
  "/panes": `<div id="panes" style="display: flex; width: 400px; height: 100px"><p id="one" style="width: 195px">One</p>
    <div id="gutter" style="width: 10px; background: gray"></div><p id="two" style="flex: 1">Two</p></div><script>
    let held = false; gutter.onmousedown = () => { held = true; two.style.pointerEvents = "none" };
    onmousemove = (e) => { if (held) one.style.width = e.clientX + "px" };
    onmouseup = () => { held = false; two.style.pointerEvents = "" };</script>`,
  "/text": `<p id="para" onclick="note('clicks ' + event.detail)">One two <b>three</b> four.</p><p>Other</p>
    <label>Note <textarea id="area">alpha beta gamma</textarea></label>${log}`,
  "/exit": `${log}<p>Stay</p><script>document.documentElement.addEventListener("mouseleave", (e) => note("left at " + (e.clientY < 0 ? "top" : "side")));</script>`,
  "/range": `<label>Level <input id="level" type="range" min="10" max="50" step="5" value="10" oninput="out.textContent = 'input ' + value"></label>
    <output id="out"></output><div id="plain" role="slider" aria-label="Mute" tabindex="0">?</div>
    <div id="pair"><div role="slider" aria-valuenow="1"></div><div role="slider" aria-valuenow="2"></div></div>`,
  "/own-keys": ownSlider(10, true),
  "/own-far": ownSlider(1, true),
  "/own-mouse": ownSlider(5, false),
};

const site = shared(() =>
  serve((request, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html>${pages[request.url ?? ""] ?? ""}`);
  }),
);
const device = shared(() => openWebDevice());

const open = (path: string) => device.run("navigate_to_url", { url: `${site.url}${path}` });
const at = (id: string) => device.js(`return [${id}.offsetLeft, ${id}.offsetTop]`);

describe("press_key with a count", () => {
  it("presses so often, and the page hears each key in its order", async () => {
    await open("/keys");
    const result = await device.run("press_key", { selector: "Pad", key: "a", count: 3 });
    expect(result.message).toBe("pressed a 3 times");
    expect(await device.log()).toEqual(Array(3).fill(["a down", "a up"]).flat());
  });

  it("presses where the focus is without a target", async () => {
    await open("/keys");
    await device.run("click_element", { selector: "Steps" });
    await device.run("press_key", { key: "UP", count: 12 });
    expect(await device.js("return steps.value")).toBe("12");
    await device.run("press_key", { key: "DOWN", count: 10 });
    expect(await device.js("return steps.value")).toBe("2");
  });

  it("goes back several pages", async () => {
    await open("/keys");
    await open("/text");
    await open("/drag");
    await device.run("press_key", { key: "BACK", count: 2 });
    expect((await device.run("get_page_info")).data?.url).toBe(`${site.url}/keys`);
  });
});

describe("the mouse", () => {
  it("drag_by moves an element by an offset", async () => {
    await open("/drag");
    await device.run("drag_by", { selector: "css=#box", x: 150, y: 60 });
    expect(await at("box")).toEqual([250, 160]);
    await device.run("drag_by", { selector: "css=#box", x: -50 });
    expect(await at("box")).toEqual([200, 160]);
  });

  it("drag_and_drop reaches a target that takes no mouse while something is held", async () => {
    await open("/panes");
    await device.run("drag_and_drop", { selector: "css=#gutter", to_selector: "Two", timeout_ms: 3_000 });
    expect(Number(await device.js("return one.offsetWidth"))).toBeGreaterThan(250);
  });

  it("drag_and_drop says that something lies over its target, and drags nothing", async () => {
    await open("/panes");
    await device.js(
      "two.innerHTML = 'Two<b style=\"position: fixed; inset: 0; left: 210px\">Over</b>'; document.body.append(two.firstElementChild)",
    );
    const dragging = device.run("drag_and_drop", {
      selector: "css=#gutter",
      to_selector: "css=#two",
      timeout_ms: 500,
    });
    expect((await failureOf(dragging)).code).toBe("ELEMENT_NOT_ACTIONABLE");
    expect(await device.js("return one.offsetWidth")).toBe(195);
  });

  it("triple_click selects a paragraph", async () => {
    await open("/text");
    await device.run("triple_click", { selector: "css=#para" });
    expect(await device.log()).toEqual(["clicks 1", "clicks 2", "clicks 3"]);
    expect(await device.js("return getSelection().toString().trim()")).toBe("One two three four.");
  });

  it("leave_window is heard by the page", async () => {
    await open("/exit");
    await device.run("leave_window");
    await expect.poll(() => device.log()).toEqual(["left at top"]);
  });
});

describe("select_text", () => {
  it("selects all of an element or a field", async () => {
    await open("/text");
    await device.run("select_text", { selector: "css=#para" });
    expect(await device.js("return getSelection().toString()")).toBe("One two three four.");
    await device.run("select_text", { selector: "Note" });
    expect(await device.js("return [area.selectionStart, area.selectionEnd]")).toEqual([0, 16]);
  });

  it("selects a part, over tags and white space too", async () => {
    await open("/text");
    await device.run("select_text", { selector: "css=#para", text: "two three f" });
    expect(await device.js("return getSelection().toString()")).toBe("two three f");
    await device.run("select_text", { selector: "Note", text: "beta" });
    expect(await device.js("return area.value.slice(area.selectionStart, area.selectionEnd)")).toBe("beta");
  });

  it("says that a part is not there", async () => {
    await open("/text");
    const failure = await failureOf(device.run("select_text", { selector: "Note", text: "delta" }));
    expect([failure.code, failure.message]).toEqual([
      "ELEMENT_NOT_FOUND",
      expect.stringContaining("get_text"),
    ]);
  });
});

describe("set_slider", () => {
  it("sets a slider of the browser's own, which hears of it", async () => {
    await open("/range");
    await device.run("set_slider", { selector: "Level", value: 35 });
    expect(await device.js("return [level.value, out.textContent]")).toEqual(["35", "input 35"]);
  });

  it.each([
    [60, /from 10 to 50/],
    [33, /steps of 5/],
  ])("refuses %i and says what it takes", async (value, says) => {
    await open("/range");
    const failure = await failureOf(device.run("set_slider", { selector: "Level", value }));
    expect(failure.code).toBe("INPUT_NOT_TAKEN");
    expect(failure.message).toMatch(says);
    expect(await device.js("return level.value")).toBe("10");
  });

  it.each([
    ["by its keys", "/own-keys", 120],
    ["first along its track where it is far", "/own-far", 777],
    ["by the mouse where it has no keys", "/own-mouse", 500],
  ])("sets a slider of the page's own %s", async (_, path, value) => {
    await open(path);
    await device.run("set_slider", { selector: "Volume", value, timeout_ms: 20_000 });
    expect(await device.js("return thumb.getAttribute('aria-valuenow')")).toBe(String(value));
  });

  it("says that a slider of the page's own did not take a value", async () => {
    await open("/own-keys");
    const failure = await failureOf(
      device.run("set_slider", { selector: "Volume", value: 45, timeout_ms: 20_000 }),
    );
    expect(failure.code).toBe("INPUT_NOT_TAKEN");
    expect(failure.message).toContain("steps of 10");
  });

  it("refuses what says no value, and what holds two sliders", async () => {
    await open("/range");
    const mute = await failureOf(device.run("set_slider", { selector: "Mute", value: 1 }));
    expect([mute.code, mute.message]).toEqual(["ACTION_REJECTED", expect.stringContaining("drag_by")]);
    const pair = await failureOf(device.run("set_slider", { selector: "css=#pair", value: 1 }));
    expect(pair.message).toContain("2 sliders");
  });
});
