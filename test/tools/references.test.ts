import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";

let site: Site;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  site = await startSite();
  product = await openProduct("devices: [{ name: web, model: web }, { name: box, model: simulated }]");
  client = await product.connect();
  await client.call("create_userinterface", { name: "shop", app: { url: site.url } });
  await client.call("execute_device_action", {
    device_id: "web",
    actions: [{ command: "navigate_to_url", params: { url: `${site.url}/second` } }],
  });
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});

const save = (args: Record<string, unknown>) =>
  client.call("save_reference", { device_id: "web", userinterface_name: "shop", ...args });
const areaSchema = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

test("an element of a page is saved as a picture, shown at once, and read again by its uri", async () => {
  const saved = await save({ name: "Close", kind: "image", element: "Close me" });
  expect(saved.structured).toMatchObject({ name: "Close", model: "web", kind: "image", replaced: false });
  const { width, height } = areaSchema.parse(saved.structured.area);
  const image = saved.raw.content.find(({ type }) => type === "image");
  const shown = Buffer.from(image && "data" in image ? image.data : "", "base64");
  expect(await sharp(shown).metadata()).toMatchObject({ format: "png", width, height });
  const uri = z.string().parse(saved.structured.uri);
  expect(saved.raw.content).toContainEqual(expect.objectContaining({ type: "resource_link", uri }));
  const [content] = (await client.client.readResource({ uri })).contents;
  expect(content).toMatchObject({ mimeType: "image/png", blob: shown.toString("base64") });
  await expect(client.client.readResource({ uri: `${uri}0` })).rejects.toThrow("list_references");
});

test("a text is saved from the page, and both are listed by app and model", async () => {
  const saved = await save({ name: "Heading", kind: "text", element: "Second page" });
  expect(saved.structured).toMatchObject({ kind: "text", text: "Second page" });
  await client.call("create_userinterface", { name: "tv", models: ["simulated"] });
  await client.call("save_reference", {
    device_id: "box",
    userinterface_name: "tv",
    name: "Home",
    kind: "text",
    area: { x: 0, y: 60, width: 640, height: 80 },
  });
  const names = async (args: Record<string, unknown>) => {
    const { references } = (await client.call("list_references", args)).structured;
    return z.array(z.object({ userinterface_name: z.string(), name: z.string() })).parse(references);
  };
  expect(await names({})).toMatchObject([{ name: "Close" }, { name: "Heading" }, { name: "Home" }]);
  expect(await names({ userinterface_name: "tv" })).toMatchObject([
    { userinterface_name: "tv", name: "Home" },
  ]);
  expect(await names({ model: "web" })).toHaveLength(2);
  const page = (await client.call("list_references", { max_tokens: 50 })).structured;
  expect(page.more).toBe(3 - [page.references].flat().length);
});

test("replacing needs the word, and an area outside of the frame changes nothing", async () => {
  const area = { x: 0, y: 0, width: 50, height: 50 };
  await save({ name: "Corner", kind: "image", area });
  expect((await save({ name: "Corner", kind: "image", area })).error).toMatchObject({
    code: "ALREADY_EXISTS",
    hint: expect.stringContaining("replace: true"),
  });
  const outside = { ...area, x: 1_270 };
  expect((await save({ name: "Corner", kind: "image", area: outside, replace: true })).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("1280 x 720"),
  });
  expect((await save({ name: "x", kind: "image", area: { ...area, width: 0 } })).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("area.width"),
  });
  const again = await save({ name: "Corner", kind: "image", area, replace: true });
  expect(again.structured).toMatchObject({ replaced: true, area });
});

test("an exported userinterface brings its references along", async () => {
  const { yaml } = (await client.call("export_userinterface", { userinterface_name: "tv" })).structured;
  await client.call("delete_userinterface", { userinterface_name: "tv", confirm: true });
  expect((await client.call("list_references", { userinterface_name: "tv" })).error).toMatchObject({
    code: "USERINTERFACE_NOT_FOUND",
  });
  expect((await client.call("import_userinterface", { yaml })).structured).toMatchObject({ references: 1 });
  const { references } = (await client.call("list_references", { userinterface_name: "tv" })).structured;
  expect(references).toMatchObject([{ name: "Home", text: "Welcome home" }]);
});
