import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { changeZip } from "#mcp-server/services/devices/recordings/zip.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { openSecretSites, type SecretSites } from "./secretSites.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const password = "Bound-secret-31";
const token = "token-of-all-fields";
const free = "free-everywhere-77";
const blocks = "█".repeat(12);
let sites: SecretSites;
let site: SecretSites["site"];
let seen: SecretSites["seen"];
let otherUrl: string;
let product: Product;
let client: TestClient;

beforeAll(async () => {
  sites = await openSecretSites();
  ({ site, seen, otherUrl } = sites);
  const hosts = `hosts: ["${new URL(site.url).host}"]`;
  product = await openProduct(
    `devices: [{ name: browser, model: web, controllers: { web: { proxy: { server: "${site.url}" } } } }, { name: box, model: simulated }]
environments: { staging: { urls: ["*://staging.test/app/*"], variables: { start: "http://app.test/start" } } }
secrets:
  ANYWHERE: { env: LABWRIGHT_SECRET_ANYWHERE, hosts: ["*"] }
  BOUND: { env: LABWRIGHT_SECRET_BOUND, ${hosts} }
  LIKE_BOUND: { env: LABWRIGHT_SECRET_LIKE_BOUND, ${hosts} }
  TOKEN: { env: LABWRIGHT_SECRET_TOKEN, ${hosts}, fields: any }`,
    {
      ...{
        BOUND: password,
        TOKEN: token,
        FREE: free,
        CODE: "48151",
        OTHER_CODE: "39393",
        BLOCKS: blocks,
        ANYWHERE: "anywhere-on-purpose",
      },
      ...{ LIKE_BOUND: "x".repeat(password.length), LIKE_FREE: "y".repeat(free.length) },
    },
  );
  client = await product.connect();
});
afterAll(async () => {
  await product?.dispose();
  await sites?.close();
});
beforeEach(() => {
  seen.length = 0;
});

const act = (...actions: [command: string, params: object][]) =>
  client.call("execute_device_action", {
    ...{ device_id: "browser", look: false },
    actions: actions.map(([command, params]) => ({ command, params })),
  });
const open = (url: string) => act(["navigate_to_url", { url }]);
const checkValue = (selector: string, value: string, match = "exact") =>
  client.call("verify_device_state", {
    ...{ device_id: "browser", timeout_ms: 100 },
    checks: [{ command: "element_value", params: { selector, value, match } }],
  });
const refusal = { error: { code: "SECRET_NOT_ALLOWED" } };

test("a secret is typed into password fields of its hosts, and elsewhere is refused with what to do", async () => {
  await open(`${site.url}/login`);
  for (const command of ["input_text", "type_text"]) {
    const typed = await act([command, { selector: "css=#pw", text: "{{secret.BOUND}}" }]);
    expect(typed.structured).toMatchObject({ status: "passed" });
    await act(
      ["input_text", { selector: "css=#pw", text: "" }],
      ["input_text", { selector: "css=#user", text: "" }],
    );
    const refused = await act([command, { selector: "css=#user", text: "{{secret.BOUND}}" }]);
    expect(refused).toMatchObject(refusal);
    expect(refused.text).toMatch(/password field.*secrets\.BOUND\.fields/);
    expect((await act([command, { selector: "css=#user", text: "{{secret.TOKEN}}" }])).error).toBeUndefined();
  }
  expect(
    (await act(["input_text", { selector: "css=#pw", text: "{{secret.BOUND}}" }])).error,
  ).toBeUndefined();
  await act(["click_element", { selector: "Show" }]);
  for (const [selector, name] of [
    ["css=#pw", "BOUND"],
    ["css=#user", "TOKEN"],
  ] as const)
    expect((await checkValue(selector, `{{secret.${name}}}`)).structured).toMatchObject({ pass: true });
});

test.each([
  "/redirect",
  "/framed",
])("the frame that holds the field is judged, after %s too", async (path) => {
  await open(`${site.url}${path}`);
  for (const command of ["input_text", "type_text"]) {
    const refused = await act([command, { selector: "css=#pw", text: "{{secret.BOUND}}" }]);
    expect(refused).toMatchObject(refusal);
    expect(refused.text).toMatch(/localhost:\d+.*secrets\.BOUND\.hosts/);
  }
  await act(["click_element", { selector: "css=#pw" }]);
  expect(await act(["type_text", { text: "{{secret.BOUND}}" }])).toMatchObject(refusal);
  expect((await checkValue("css=#pw", "")).structured).toMatchObject({ pass: true });
  expect((await act(["input_text", { selector: "css=#pw", text: "{{secret.FREE}}" }])).error).toBeUndefined();
});

test("a secret without hosts goes to this machine and to hosts of the configuration, and no farther", async () => {
  for (const [host, isAllowed] of [
    ["shop.test", false],
    ["staging.test", true],
    ["app.test", true],
  ] as const) {
    await open(`http://${host}/login`);
    for (const command of ["input_text", "type_text"]) {
      const typed = await act([command, { selector: "css=#free", text: "{{secret.FREE}}" }]);
      if (isAllowed) expect(typed.structured).toMatchObject({ status: "passed" });
      else expect(typed).toMatchObject(refusal);
      if (!isAllowed) expect(typed.text).toContain(`hosts: ["${host}"] }`);
    }
    await act(["input_text", { selector: "css=#free", text: "" }]);
    const anywhere = await act(["type_text", { selector: "css=#free", text: "{{secret.ANYWHERE}}" }]);
    expect(anywhere.structured).toMatchObject({ status: "passed" });
  }
  const asked = await client.call("execute_api_request", {
    ...{ method: "POST", url: "http://shop.test/take", body: { k: "{{secret.FREE}}" } },
  });
  expect(asked).toMatchObject(refusal);
  expect(seen.map(({ line }) => line)).not.toContain("POST /take");
});

test("a number takes a secret, and Enter and Tab next to one do what they do", async () => {
  await open(`${site.url}/keys`);
  await act(["input_text", { selector: "css=#code", text: "{{secret.CODE}}" }]);
  expect((await checkValue("css=#code", "{{secret.CODE}}")).structured).toMatchObject({ pass: true });
  const typed = await act([
    "type_text",
    { selector: "css=#user", text: "{{secret.FREE}}\t{{secret.CODE}}\n" },
  ]);
  expect(typed.structured).toMatchObject({ status: "passed" });
  await vi.waitFor(() => expect(seen).toContainEqual(expect.objectContaining({ line: "POST /sent" })));
  expect(seen.find(({ line }) => line === "POST /sent")?.body).toBe(`a=${free}&b=48151`);
});

test("a frame of another origin that takes the focus gets no key of it", async () => {
  await open(`${site.url}/thief`);
  await act(["type_text", { selector: "css=#pw", text: "nothing secret" }]);
  await vi.waitFor(() => expect(seen.map(({ line }) => line)).toContain("POST /stolen"));
  await open(`${site.url}/thief`);
  seen.length = 0;
  await act(["type_text", { selector: "css=#pw", text: "{{secret.BOUND}}" }]);
  await act(["input_text", { selector: "css=#pw", text: "{{secret.BOUND}}" }]);
  expect((await checkValue("css=#grab", "")).structured).toMatchObject({ pass: true });
  await open("http://app.test/robbed");
  await act(["type_text", { selector: "css=#pw", text: "{{secret.FREE}}" }]);
  expect((await checkValue("css=#grab", "")).structured).toMatchObject({ pass: true });
  expect(seen.filter(({ line }) => line.endsWith("/stolen"))).toEqual([]);
});

test("credentials and requests go to the hosts of their secrets alone, and redirects lose them", async () => {
  const credentials = (url: string) =>
    act(["http_credentials", { url, username: "ada", password: "{{secret.BOUND}}" }]);
  expect(await credentials(otherUrl)).toMatchObject(refusal);
  expect((await credentials(site.url)).error).toBeUndefined();
  seen.length = 0;
  const ask = (url: string) =>
    client.call("execute_api_request", {
      ...{ method: "POST", url, headers: { "X-Key": "{{secret.BOUND}}" }, body: { k: "{{secret.TOKEN}}" } },
    });
  expect(await ask(`${otherUrl}/take`)).toMatchObject(refusal);
  expect(seen).toEqual([]);
  expect((await ask(`${site.url}/take`)).structured).toMatchObject({ status: 200 });
  expect((await ask(`${site.url}/away`)).structured).toMatchObject({ status: 401 });
  expect(seen).toMatchObject([
    { line: "POST /take", key: password, body: JSON.stringify({ k: token }) },
    { line: "POST /away", key: password },
    { line: "POST /taken", key: undefined, body: "" },
  ]);
});

test("a device without sites takes a secret only into an app that its hosts name", async () => {
  const typed = await client.call("execute_device_action", {
    device_id: "box",
    actions: [{ command: "input_text", params: { selector: "Device name", text: "{{secret.TOKEN}}" } }],
  });
  expect(typed).toMatchObject(refusal);
});

test("checks find out no part of a secret, and what is cut hides its part", async () => {
  await open(`${site.url}/said`);
  await act(["input_text", { selector: "css=#free", text: "{{secret.FREE}}" }]);
  const verdicts = async (command: string, params: object) =>
    await client.call("verify_device_state", {
      ...{ device_id: "browser", timeout_ms: 100 },
      checks: [{ command, params }],
    });
  const told = async (match: string, guess: string) =>
    (await checkValue("css=#free", guess, match)).text.replace(/trace_id: \w+/, "");
  for (const [match, right, wrong] of [
    ["contains", free.slice(0, 6), "qqqqqq"],
    ["words", "everywhere", "nowhereatt"],
    ["pattern", "^free", "^qqqq"],
  ] as const) {
    const [hit, miss] = [await told(match, right), await told(match, wrong)];
    expect(hit).toBe(miss);
    expect(hit).toContain("SECRET_NOT_ALLOWED");
  }
  expect((await checkValue("css=#free", "{{secret.FREE}}", "same")).structured).toMatchObject({ pass: true });
  const said = { selector: "css=#said", text: "free-every", match: "contains" };
  expect((await verdicts("element_text", said)).structured).toMatchObject({ pass: false });
  expect(
    (await verdicts("text_visible", { text: "free-every", match: "contains" })).structured,
  ).toMatchObject({
    pass: false,
  });
  expect((await verdicts("text_visible", { text: "said by", match: "contains" })).structured).toMatchObject({
    pass: true,
  });
  for (const checks of [
    [{ json_path: "$.k", matches: "^token" }],
    [{ json_path: "$.k", json_schema: { pattern: "^token" } }],
    [{ json_path: "$.k", json_schema: { minLength: token.length, maxLength: token.length } }],
  ])
    expect((await echo({ k: "{{secret.TOKEN}}" }, checks)).structured).toMatchObject({ passed: false });
  for (const json_schema of [
    { exclusiveMinimum: 48150 },
    { maximum: 48151 },
    { multipleOf: 48151 },
    { not: { maximum: 40000 } },
  ]) {
    const judged = await echo("[{{secret.CODE}}]", [{ json_path: "$[0]", json_schema }]);
    const other = await echo("[{{secret.OTHER_CODE}}]", [{ json_path: "$[0]", json_schema }]);
    expect(judged.structured.passed).toBe(other.structured.passed);
    expect(judged.text).not.toContain("48151");
  }
  // A description of an API is written by its caller too.
  await client.call("import_api_spec", { source: `${site.url}/openapi.json`, name: "echo" });
  const contracts = await Promise.all(
    ["hit", "miss"].map((operation_id) =>
      client.call("execute_api_request", { operation_id, body: { k: "{{secret.TOKEN}}" } }),
    ),
  );
  expect(contracts.map(({ structured }) => structured.passed)).toEqual([true, true]);
  const equal = await echo({ k: "{{secret.TOKEN}}" }, [{ json_path: "$.k", equals: "{{secret.TOKEN}}" }]);
  expect(equal.structured).toMatchObject({ passed: true });
  const cut = await echo({ pad: "x".repeat(185), k: "{{secret.TOKEN}}" }, undefined, 72);
  expect(cut.structured.more_characters).toBeGreaterThan(0);
  expect(JSON.stringify(cut.structured)).not.toContain("token-o");
});

const echo = (body: object | string, checks?: object[], max_tokens = 800) =>
  client.call("execute_api_request", {
    ...{ method: "POST", url: `${site.url}/echo`, body, max_tokens },
    ...(checks && { checks }),
  });

test("fields show no secret in pictures, however the page shows them", async () => {
  const pictureOf = async (first: string, second: string) => {
    await open(`${site.url}/login`);
    const done = await act(
      ["input_text", { selector: "css=#pw", text: `{{secret.${first}}}` }],
      ["input_text", { selector: "css=#free", text: `{{secret.${second}}}` }],
      ...["Show", "Swap"].map((selector): [string, object] => ["click_element", { selector }]),
    );
    expect(done.structured).toMatchObject({ status: "passed" });
    const shot = await client.call("capture_screenshot", { device_id: "browser" });
    const picture = shot.raw.content.find(({ type }) => type === "image");
    if (picture?.type !== "image") throw new Error("there is no picture");
    return sharp(Buffer.from(picture.data, "base64")).raw().toBuffer();
  };
  // Of the same length, so that only letters could differ.
  const first = await pictureOf("BOUND", "FREE");
  expect((await pictureOf("LIKE_BOUND", "LIKE_FREE")).equals(first)).toBe(true);
  await act(["input_text", { selector: "css=#free", text: "shown" }]);
  const checks = [
    ["css=#free", "none"],
    ["css=#pw", "disc"],
  ].map(([selector, value]) => ({
    command: "element_css",
    params: { selector, property: "-webkit-text-security", value },
  }));
  const seen = await client.call("verify_device_state", { device_id: "browser", checks });
  expect(seen.structured).toMatchObject({ pass: true });
});

test.each([
  ["video", "/blocks"],
  ["trace", "/blocks-in-frame"],
])("a %s shows no secret: in no picture, no snapshot and no request", async (kind, path) => {
  await open(`${site.url}${path}`);
  const started = await client.call("start_recording", { device_id: "browser", video: kind === "video" });
  const [typed, filled] = kind === "video" ? ["BLOCKS", "FREE"] : ["FREE", "BLOCKS"];
  for (const [command, name] of [
    ["type_text", typed],
    ["input_text", filled],
  ] as const) {
    const done = await act(
      ...["css=#pw", "css=#free"].flatMap((selector): [string, object][] => [
        ["input_text", { selector, text: "" }],
        [command, { selector, text: `{{secret.${name}}}` }],
      ]),
      ["click_element", { selector: "Show" }],
    );
    expect(done.structured).toMatchObject({ status: "passed" });
    // Takes 100 ms, in which a picture is taken.
    await checkValue("css=#free", "another");
  }
  await open(`${site.url}${path}`);
  const text = "█b".repeat(6);
  await act(["input_text", { selector: "css=#free", text }], ["input_text", { selector: "css=#pw", text }]);
  const { recording_id } = started.structured;
  const { structured } = await client.call("stop_recording", { recording_id });
  const { pictures, texts } = await readRecording(structured.files);
  // Only what was typed last, which is no secret, covers as much as letters of this font do.
  const isShown = (await Promise.all(pictures.map(shareOfRed))).map((share) => share > 0.006);
  const from = isShown.indexOf(true);
  expect(from).toBeGreaterThan(2);
  expect(isShown.lastIndexOf(false)).toBeLessThan(from);
  expect(Object.keys(texts).join()).toMatch(/json.*png|png.*json/);
  for (const secret of [free, blocks])
    for (const spelling of spellingsOf(secret))
      for (const [name, text] of Object.entries(texts))
        expect(text.includes(spelling), `${spelling} in ${name}`).toBe(false);
  // While it is typed, a snapshot has only its beginning.
  expect(texts["trace.trace"]).not.toMatch(/free-e|████/);
});

function spellingsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString("hex");
  const spaced = [...secret].join(" ");
  return [
    secret,
    secret.toUpperCase(),
    spaced,
    Buffer.from(secret).toString("base64"),
    hex,
    hex.replace(/../g, "%$&"),
  ];
}

const filesSchema = z.array(z.object({ kind: z.string(), uri: z.string() }));

/** The pictures of a recording, and what else its trace has, by name. */
async function readRecording(files: unknown) {
  const pictures: Buffer[] = [];
  const texts: Record<string, string> = {};
  for (const { kind, uri } of filesSchema.parse(files)) {
    const [content] = (await client.client.readResource({ uri })).contents;
    const bytes = Buffer.from(content && "blob" in content ? content.blob : "", "base64");
    if (kind === "video") pictures.push(...framesOf(bytes));
    else
      await changeZip(bytes, (name, file) => {
        if (name.endsWith(".jpeg")) pictures.push(file);
        else texts[name] = file.toString("utf8");
        return file;
      });
  }
  return { pictures, texts };
}

/** Each block of our WebM is a VP8 key frame, which is the content of a WebP picture. */
function framesOf(video: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  const block = Buffer.from([0x81, 0, 0, 0x80]);
  for (let at = video.indexOf(block); at >= 0; at = video.indexOf(block, at + 1)) {
    if (video.toString("hex", at + 7, at + 10) !== "9d012a") continue;
    const size = (video.readUInt32BE(at - 4) & 0xff_ffff) - 4;
    const data = Buffer.concat([video.subarray(at + 4, at + 4 + size), Buffer.alloc(size % 2)]);
    const head = Buffer.from("RIFF____WEBPVP8 ____", "latin1");
    head.writeUInt32LE(data.length + 12, 4);
    head.writeUInt32LE(size, 16);
    frames.push(Buffer.concat([head, data]));
  }
  return frames;
}

/** Of a picture. */
async function shareOfRed(picture: Buffer): Promise<number> {
  const { data } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let red = 0;
  for (let at = 0; at < data.length; at += 3)
    if ((data[at] ?? 0) > 150 && (data[at + 1] ?? 255) < 90 && (data[at + 2] ?? 255) < 90) red += 1;
  return red / (data.length / 3);
}
