import { findBrowser } from "@labwright/controllers";
import { chromium } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const page = `<title>Rights</title><label>Note <textarea id="note"></textarea></label><button onclick="ask()">Where</button><p id="place"></p><script>
  const ask = () => navigator.geolocation.getCurrentPosition(
    ({ coords }) => { place.textContent = coords.latitude + ", " + coords.longitude + " within " + coords.accuracy },
    ({ code }) => { place.textContent = "refused " + code });
</script>`;

const wholeChromium = () => findBrowser()?.path ?? chromium.executablePath();

const site = shared(() =>
  serve((request, response) => {
    const credentials = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    response.setHeader("content-type", "text/html");
    if (request.url !== "/staff" || credentials === "ada:open sesame") {
      response.end(`<!doctype html>${page}<p>for ${credentials.split(":")[0] || "nobody"}</p>`);
      return;
    }
    response.writeHead(401, { "www-authenticate": 'Basic realm="Staff"' }).end("<p>No entry</p>");
  }),
);
const device = shared(() => openWebDevice());
beforeEach(async () => {
  await device.run("load_storage_state", {});
  await device.run("navigate_to_url", { url: `${site.url}/` });
});

const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };
const insecure = () => device.run("navigate_to_url", { url: site.url.replace("127.0.0.1", "0.0.0.0") });
const place = async () => {
  await device.js("place.textContent = ''");
  await device.run("click_element", { selector: "Where" });
  await expect.poll(() => device.js("return place.textContent")).not.toBe("");
  return device.js("return place.textContent");
};
const handOver = async () => {
  device.web.handOver?.();
  await device.web.open(NEVER);
};

describe("the clipboard", () => {
  it("is written and read whole, and pasted by the page", async () => {
    await device.run("grant_permissions", clipboard);
    const text = "a  b\nc";
    await device.run("write_clipboard", { text });
    expect((await device.run("read_clipboard")).data).toEqual({ value: text });
    await device.run("click_element", { selector: "Note" });
    await device.run("press_key", { key: "Control+v" });
    expect(await device.js("return note.value")).toBe(text);
  });

  it("holds what the page copies", async () => {
    await device.run("grant_permissions", clipboard);
    await device.run("input_text", { selector: "Note", text: "copied" });
    await device.run("select_text", { selector: "Note" });
    await device.run("press_key", { key: "Control+c" });
    expect((await device.run("read_clipboard")).data).toEqual({ value: "copied" });
  });

  it("that the page may not use says how to allow it", async () => {
    for (const [command, params] of [
      ["read_clipboard", {}],
      ["write_clipboard", { text: "x" }],
    ] as const) {
      await device.run("grant_permissions", { permissions: ["notifications"] });
      const failure = await failureOf(device.run(command, params));
      expect([failure.code, failure.message]).toEqual([
        "ACTION_REJECTED",
        expect.stringContaining("grant_permissions with clipboard-"),
      ]);
    }
  });

  it("is not another client's: neither what it holds nor the right to read it", async () => {
    await device.run("grant_permissions", clipboard);
    await device.run("write_clipboard", { text: "of the first" });
    await handOver();
    expect((await failureOf(device.run("read_clipboard"))).code).toBe("ACTION_REJECTED");
    await device.run("grant_permissions", clipboard);
    expect((await device.run("read_clipboard")).data).toEqual({ value: "" });
  });

  it("is not another run's, nor is that of a run its holder's", async () => {
    await device.run("grant_permissions", clipboard);
    await device.run("write_clipboard", { text: "of the holder" });
    const fresh = await device.web.isolation?.enter({}, NEVER);
    await device.run("navigate_to_url", { url: `${site.url}/` });
    expect((await failureOf(device.run("read_clipboard"))).code).toBe("ACTION_REJECTED");
    await device.run("grant_permissions", clipboard);
    expect((await device.run("read_clipboard")).data).toEqual({ value: "" });
    await device.run("write_clipboard", { text: "of the run" });
    await fresh?.leave();
    expect((await device.run("read_clipboard")).data).toEqual({ value: "" });
  });
});

describe("the place", () => {
  it("set_geolocation says where the device is", async () => {
    await device.run("set_geolocation", { latitude: 52.5, longitude: 13.25, accuracy: 20 });
    expect(await place()).toBe("52.5, 13.25 within 20");
    await device.run("set_geolocation", { latitude: -33, longitude: 151 });
    expect(await place()).toBe("-33, 151 within 0");
  });

  it("is refused again when the permission is taken back", async () => {
    await device.run("set_geolocation", { latitude: 1, longitude: 2 });
    await device.run("grant_permissions", { permissions: [] });
    expect(await place()).toBe("refused 1");
  });

  it("is not another client's", async () => {
    await device.run("set_geolocation", { latitude: 1, longitude: 2 });
    await handOver();
    expect(await place()).toBe("refused 1");
  });

  it("takes both of its numbers or none", async () => {
    await expect(device.run("set_geolocation", { latitude: 1 })).rejects.toThrow(/or neither/);
  });
});

it.each<[string, Record<string, unknown>]>([
  ["read_clipboard", {}],
  ["write_clipboard", { text: "x" }],
  ["set_geolocation", { latitude: 1, longitude: 2 }],
  ["grant_permissions", { permissions: ["geolocation"] }],
])("%s on a page of an insecure origin says so", async (command, params) => {
  await insecure();
  const failure = await failureOf(device.run(command, params));
  expect([failure.code, failure.message]).toEqual([
    "ACTION_REJECTED",
    expect.stringMatching(/secure origin.*https/),
  ]);
});

/** Without a window Chromium shows the answer of a site that refuses; with its whole self it calls that a failure. */
describe.each([
  ["found first", {}],
  ["with a window to hide", { executable_path: wholeChromium() }],
])("http_credentials in the browser that is %s", (_, settings) => {
  const own = shared(() => openWebDevice({ settings }));
  beforeEach(() => own.run("load_storage_state", {}));

  const staff = () => own.run("navigate_to_url", { url: `${site.url}/staff` });
  const seen = () => own.js("return document.body.innerText.trim().split('\\n').at(-1)");
  const ada = (password: string, url = site.url) =>
    own.run("http_credentials", { url, username: "ada", password });
  const refusal = async () => {
    try {
      const { status, challenge } = (await staff()).document ?? {};
      return `${status}: ${challenge}`;
    } catch (error) {
      return String(error);
    }
  };
  const asks = /401: (it asks for a name and password \(see http_credentials\)|Basic realm="Staff")/;

  it("answer a site that asks, until they are forgotten", async () => {
    expect(await refusal()).toMatch(asks);
    await ada("open sesame");
    expect((await staff()).document?.status).toBe(200);
    expect(await seen()).toBe("for ada");
    expect((await failureOf(own.run("http_credentials", { url: "http://[" }))).code).toBe("INVALID_PARAMS");
    await own.run("http_credentials", { url: site.url });
    await own.run("load_storage_state", {});
    expect(await refusal()).toMatch(asks);
  });

  it("are reported to no other site", async () => {
    await ada("open sesame", site.url.replace("127.0.0.1", "localhost"));
    expect(await refusal()).toMatch(asks);
  });

  it("that are wrong say so, and their password stands nowhere", async () => {
    await ada("wrong one");
    const refused = await staff();
    expect(refused.document).toMatchObject({ status: 401, challenge: 'Basic realm="Staff"' });
    expect(JSON.stringify(refused)).not.toContain("wrong one");
  });

  it("are not another client's", async () => {
    await ada("open sesame");
    own.web.handOver?.();
    await own.web.open(NEVER);
    expect(await refusal()).toMatch(asks);
  });
});

describe("set_network", () => {
  it("says what it does", async () => {
    const says = async (params: Record<string, unknown>) => (await device.run("set_network", params)).message;
    expect(await says({ offline: true })).toBe("the network is off");
    expect(await says({ speed: "slow_3g" })).toBe(
      "the network is slow: 2000 ms more a request, 400 kbit/s down, 400 kbit/s up",
    );
    expect(await says({ speed: "fast_3g", latency_ms: 90 })).toContain(
      "90 ms more a request, 1440 kbit/s down",
    );
    expect(await says({ headers: { "x-mark": "a value" } })).toBe(
      "the network is as usual; every request has x-mark",
    );
    expect(await says({})).toBe("the network is as usual");
  });

  it("slows requests down by its speed", async () => {
    await device.run("set_network", { speed: "fast_3g" });
    const took = await device.js(
      "const t = performance.now(); await fetch('/x'); return performance.now() - t",
    );
    expect(took).toBeGreaterThanOrEqual(550);
  });
});
