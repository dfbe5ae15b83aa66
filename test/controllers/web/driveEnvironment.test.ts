import { readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const site = shared(startSite);
const device = shared(() => openWebDevice());

const open = (path: string) => device.run("navigate_to_url", { url: `${site.url}${path}` });
const seen = () => device.js("return document.querySelector('#seen').textContent");

describe("storage", () => {
  it("save_storage_state and load_storage_state bring a login back", async () => {
    await open("/storage");
    await device.run("click_element", { selector: "Log in" });
    await device.run("save_storage_state", { name: "ada" });
    await device.run("load_storage_state", {});
    await open("/storage");
    expect(await seen()).toBe("cookie none, item none");
    await device.run("load_storage_state", { name: "ada" });
    await open("/storage");
    expect(await seen()).toBe("cookie user=ada, item kept");
  });

  it("a saved state is readable by its owner only", async () => {
    await device.run("save_storage_state", { name: "private" });
    expect((await stat(join(device.folder, "private.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(device.folder, "private.json"), "utf8"))).toHaveProperty("cookies");
  });

  it("a saved state that is torn is refused with what to do, and the browser keeps what it has", async () => {
    await device.run("save_storage_state", { name: "torn" });
    await open("/storage");
    await device.run("click_element", { selector: "Log in" });
    await truncate(join(device.folder, "torn.json"), 10);
    await expect(device.run("load_storage_state", { name: "torn" })).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("Save it again with save_storage_state"),
    });
    await open("/storage");
    expect(await seen()).toBe("cookie user=ada, item kept");
  });

  it("load_storage_state without a name leaves one empty tab and nothing of before", async () => {
    await open("/storage");
    await device.run("click_element", { selector: "Log in" });
    await device.run("open_tab", { url: `${site.url}/second` });
    await device.run("set_viewport_size", { width: 500, height: 400 });
    await device.run("handle_dialog", { accept: true });
    await device.run("load_storage_state", {});
    expect((await device.run("get_page_info")).data).toMatchObject({
      url: "about:blank",
      viewport: { width: 1280, height: 720 },
      tabs: [{ tab: 0 }],
    });
    await open("/storage");
    expect(await seen()).toBe("cookie none, item none");
    await open("/dialogs");
    await device.run("click_element", { selector: "Confirm" });
    expect(await device.log()).toEqual(["confirm false"]);
  });

  it("a state that was never saved, or a bad name, is refused and changes nothing", async () => {
    await open("/form");
    expect((await failureOf(device.run("load_storage_state", { name: "nobody" }))).code).toBe("PATH_DENIED");
    expect((await failureOf(device.run("save_storage_state", { name: "../x" }))).code).toBe("PATH_DENIED");
    expect(await device.js("return document.title")).toBe("Form");
  });
});

describe("network, media, viewport", () => {
  it("set_network takes the network away and gives it back", async () => {
    await open("/form");
    await device.run("set_network", { offline: true });
    const failure = await failureOf(open("/second"));
    expect(failure.code).toBe("APP_UNREACHABLE");
    expect(failure.message).toContain("set_network");
    await device.run("set_network", {});
    await open("/second");
    expect(await device.js("return document.title")).toBe("Second");
  });

  it("set_network adds latency and headers, also in tabs opened later", async () => {
    await device.run("set_network", { latency_ms: 150, headers: { "x-test": "yes" } });
    await device.run("open_tab", { url: `${site.url}/headers` });
    expect(await device.js("return document.body.textContent")).toContain('"x-test":"yes"');
    const took = await device.js(
      "const t = performance.now(); await fetch('/data.json'); return performance.now() - t",
    );
    expect(took).toBeGreaterThanOrEqual(140);
    await device.run("set_network", {});
    await device.run("close_tab", {});
  });

  it("emulate_media is seen by the page and by tabs opened later", async () => {
    await open("/media");
    await device.run("emulate_media", { color_scheme: "dark" });
    await expect.poll(() => device.js("return answer.textContent")).toBe("dark");
    await device.run("open_tab", { url: `${site.url}/media` });
    await expect.poll(() => device.js("return answer.textContent")).toBe("dark");
    await device.run("emulate_media", {});
    await device.run("close_tab", {});
    await expect.poll(() => device.js("return answer.textContent")).toBe("light");
  });

  it("set_viewport_size resizes the page", async () => {
    await device.run("set_viewport_size", { width: 400, height: 300 });
    expect(await device.js("return [innerWidth, innerHeight]")).toEqual([400, 300]);
    await device.run("set_viewport_size", { width: 1280, height: 720 });
  });
});

describe("execute_javascript", () => {
  it("returns what the script returns", async () => {
    await open("/form");
    const result = await device.run("execute_javascript", {
      script: "return { title: document.title, n: await 2 }",
    });
    expect(result.data?.result).toEqual({ title: "Form", n: 2 });
  });

  it("says what the script threw, and stops one that does not end", async () => {
    await open("/form");
    for (const words of ["mine", "the shop has been closed", "it crashed"]) {
      const thrown = await failureOf(
        device.run("execute_javascript", { script: `throw new Error('${words}')` }),
      );
      expect([thrown.code, thrown.message]).toEqual([
        "ACTION_REJECTED",
        expect.stringContaining(`The script threw: Error: ${words}`),
      ]);
    }
    const endless = await failureOf(
      device.run("execute_javascript", { script: "for (;;) {}", timeout_ms: 200 }),
    );
    expect(endless.code).toBe("COMMAND_TIMEOUT");
    expect(await device.js("return document.title")).toBe("Form");
  });

  it("is off unless the configuration allows it", async () => {
    const strict = await openWebDevice({ javascript: false });
    try {
      expect((await failureOf(strict.js("return 1"))).code).toBe("UNSAFE_DISABLED");
    } finally {
      await strict.close();
    }
  });
});

describe("screenshots", () => {
  const screen = () => {
    const source = device.web.screen;
    if (source === undefined) throw new Error("no screen");
    return source;
  };
  const size = async (options: Parameters<ReturnType<typeof screen>["capture"]>[0]) => {
    const { width, height, mimeType, bytes } = await screen().capture(options, NEVER);
    expect(mimeType).toBe("image/png");
    expect([...bytes.subarray(1, 4)]).toEqual([..."PNG"].map((letter) => letter.charCodeAt(0)));
    return [width, height];
  };

  async function redPixels(bytes: Uint8Array): Promise<number> {
    const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    let count = 0;
    for (let at = 0; at < data.length; at += info.channels) {
      const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
      if (red > 180 && green < 90 && blue < 110) count++;
    }
    return count;
  }

  it("show the visible part, the whole page, an area or one element", async () => {
    await open("/scroll");
    expect(await size({})).toEqual([1280, 720]);
    const [width, height] = await size({ fullPage: true });
    expect(width).toBe(1280);
    expect(height).toBeGreaterThan(3000);
    expect(await size({ area: { x: 10, y: 20, width: 300, height: 200 } })).toEqual([300, 200]);
    await open("/mouse");
    const dump = await device.web.elements?.dump({ interactiveOnly: true }, NEVER);
    const pad = dump?.elements.find((element) => element.name === "Pad");
    expect(await size({ ref: pad?.ref ?? "" })).toEqual([200, 100]);
  });

  it("are taken of what is scrolled to", async () => {
    await open("/scroll");
    await device.run("scroll", { direction: "bottom" });
    const before = await screen().capture({ area: { x: 0, y: 0, width: 200, height: 200 } }, NEVER);
    await device.run("scroll", { direction: "top" });
    const after = await screen().capture({ area: { x: 0, y: 0, width: 200, height: 200 } }, NEVER);
    expect(Buffer.compare(before.bytes, after.bytes)).not.toBe(0);
  });

  it("for people frame a highlighted element as long as asked; other pictures and the page stay as they are", async () => {
    await open("/scroll");
    const html = () => device.js("return document.documentElement.outerHTML");
    const [picture, before] = [await screen().capture({}, NEVER), await html()];
    const area = { x: 0, y: 0, width: 600, height: 400 };
    const red = async (options: object) =>
      redPixels((await screen().capture({ highlight: true, ...options }, NEVER)).bytes);
    await device.run("element_highlight", { selector: "css=#box" });
    for (const options of [{}, { area }, { fullPage: true }, { format: "jpeg" }])
      expect(await red(options)).toBeGreaterThan(100);
    expect(await html()).toBe(before);
    expect(Buffer.compare((await screen().capture({}, NEVER)).bytes, picture.bytes)).toBe(0);
    await device.run("element_highlight", { selector: "css=#box", seconds: 0.5 });
    await expect.poll(() => red({})).toBe(0);
    await device.run("element_highlight", { selector: "css=#box" });
    await open("/form");
    expect(await red({})).toBe(0);
  });

  it("do not wait for a font that never comes", async () => {
    await open("/fonts");
    expect(await size({})).toEqual([1280, 720]);
  });

  it("of an area outside of the page are refused", async () => {
    await open("/form");
    const capture = screen().capture({ area: { x: 5000, y: 0, width: 10, height: 10 } }, NEVER);
    expect((await failureOf(capture)).code).toBe("INVALID_PARAMS");
  });
});
