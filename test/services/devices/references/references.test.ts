import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineFactory, type Frame, type Space } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import { sql } from "drizzle-orm";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { userInterfaceSchema } from "#mcp-server/domain/index.ts";
import { type AppFiles, createAppFiles } from "#mcp-server/services/apps/files/index.ts";
import {
  createUserInterfaces,
  type UserInterfaceService,
} from "#mcp-server/services/apps/userinterfaces/index.ts";
import {
  createReferences,
  type ReferenceService,
  type ReferenceSpec,
} from "#mcp-server/services/devices/references/index.ts";
import type { OpenDevice } from "#mcp-server/services/index.ts";
import type { Storage } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { openBox, testSecrets } from "../../../fixtures/simulated.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";
import { noTestcases } from "../../apps/navigation/lab.ts";

const NEVER = new AbortController().signal;
/** The simulated box with pictures of this space; its elements stay where they are. */
const withPictures = (space: Space) =>
  defineFactory({
    ...simulatedFactory,
    create: (settings, context) =>
      simulatedFactory.create(settings, context).map((controller) => ({
        ...controller,
        ...(controller.screen && { screen: { capture: () => pictureIn(space) } }),
      })),
  });

async function pictureIn(space: Space): Promise<Frame> {
  const { width, height } = space;
  const create = { width, height, channels: 3, background: "#234" } as const;
  const bytes = await sharp({ create }).png().toBuffer();
  return { ...space, mimeType: "image/png", bytes, takenAt: "2026-01-01T00:00:00.000Z" };
}

const hour = 3_600_000;

describeEachDatabase("the reference service", (open) => {
  let storage: Storage;
  let folder: string;
  let box: OpenDevice;
  let apps: UserInterfaceService;
  let references: ReferenceService;
  let files: AppFiles;
  let app: string;
  const clock = fakeClock();
  beforeAll(async () => {
    storage = await open();
    folder = join(await mkdtemp(join(tmpdir(), "labwright-references-")), "references");
    box = await openBox();
    const { db } = storage;
    apps = createUserInterfaces({ db, clock });
    const secrets = testSecrets({ PIN: "News" });
    references = createReferences({ db, folder, userinterfaces: apps, secrets, clock });
    const parts = { userinterfaces: apps, testcases: noTestcases, references, verbs: builtInVerbs };
    files = createAppFiles({ db, clock, ...parts });
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate userinterfaces cascade`);
    app = `app ${randomUUID()}`;
    await apps.create(userInterfaceSchema.parse({ name: app, models: ["simulated"] }));
  });
  afterAll(() => rm(join(folder, ".."), { recursive: true, force: true }));

  const save = (spec: Partial<ReferenceSpec>, device = box) =>
    references.save(
      device,
      { userinterface_name: app, name: "Welcome", kind: "image", replace: false, ...spec },
      NEVER,
    );
  const list = () => references.list({ userinterface_name: app, maxTokens: 50_000 });
  const pictureOf = async ({ uri = "" }: { uri?: string }) =>
    references.picture(uri.replace("reference://", ""));

  it("an image is the crop of the live screen, in a file of its own that others cannot read", async () => {
    const area = { x: 40, y: 80, width: 200, height: 50 };
    const saved = await save({ area });
    expect(saved).toMatchObject({
      name: "Welcome",
      model: "simulated",
      kind: "image",
      area,
      replaced: false,
    });
    const source = box.controllers.find(({ screen }) => screen)?.screen;
    const frame = await source?.capture({}, NEVER);
    const { x: left, y: top, width, height } = area;
    const expected = await sharp(frame?.bytes).extract({ left, top, width, height }).raw().toBuffer();
    expect(
      await sharp(await pictureOf(saved))
        .raw()
        .toBuffer(),
    ).toEqual(expected);
    const [file] = await readdir(folder);
    expect(file).toMatch(/^[0-9a-f]{64}\.png$/);
    expect((await stat(join(folder, file ?? ""))).mode & 0o777).toBe(0o600);
    expect((await list()).references).toEqual([
      { userinterface_name: app, name: "Welcome", model: "simulated", kind: "image", area, uri: saved.uri },
    ]);
  });

  it("an element says where, by ref or by words", async () => {
    const byRef = await save({ element: "live" });
    const byWords = await save({ name: "again", element: "Live TV" });
    expect(byRef.area).toEqual({ x: 40, y: 140, width: 400, height: 50 });
    expect(byWords).toMatchObject({ area: byRef.area, uri: byRef.uri });
    await expect(save({ name: "x", element: "Lve TV set" })).rejects.toMatchObject({
      code: expect.stringMatching(/^ELEMENT_/),
    });
    await expect(save({ name: "x", element: "qqq" })).rejects.toMatchObject({ code: "ELEMENT_NOT_FOUND" });
    await expect(save({ name: "x", element: "button" })).rejects.toMatchObject({
      code: "ELEMENT_AMBIGUOUS",
      hint: expect.stringContaining("button Movies"),
    });
  });

  it.each([
    { x: 600, y: 0, width: 41, height: 10 },
    { x: 0, y: 350, width: 10, height: 11 },
    { x: 0, y: 0, width: 641, height: 360 },
  ])("the area %j is refused with the frame's size, and nothing is stored", async (area) => {
    const before = await readdir(folder);
    await expect(save({ area })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("640 x 360"),
      details: { frame: { width: 640, height: 360 } },
    });
    expect(await readdir(folder)).toEqual(before);
    expect((await list()).references).toEqual([]);
  });

  it("a text is what is given, or what the element or the area shows, without secrets", async () => {
    expect(await save({ kind: "text", text: " Hello " })).toMatchObject({ text: "Hello", kind: "text" });
    expect(await save({ kind: "text", name: "live", element: "live" })).toMatchObject({ text: "Live TV" });
    const area = { x: 0, y: 60, width: 640, height: 140 };
    expect(await save({ kind: "text", name: "top", area })).toMatchObject({
      text: "Welcome home\nLive TV",
      area,
    });
    expect(await save({ kind: "text", name: "pin", text: "The News" })).toMatchObject({
      text: "The [secret PIN]",
    });
  });

  it("what says nothing of place or text, or too much, is refused", async () => {
    const area = { x: 0, y: 0, width: 5, height: 5 };
    const wrong: Partial<ReferenceSpec>[] = [
      {},
      { area, element: "live" },
      { area, text: "x" },
      { kind: "text" },
      { kind: "text", text: "  " },
      { kind: "text", area },
    ];
    for (const spec of wrong)
      await expect(save(spec), JSON.stringify(spec)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect((await list()).references).toEqual([]);
    await expect(save({ userinterface_name: `${app}x`, area })).rejects.toMatchObject({
      code: "USERINTERFACE_NOT_FOUND",
      details: { nearest: expect.arrayContaining([app]) },
    });
  });

  it("one of the same name is replaced only when asked to, and the former picture goes in time", async () => {
    const first = await save({ element: "live" });
    await expect(save({ element: "movies" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    expect((await list()).references).toMatchObject([{ uri: first.uri }]);
    const second = await save({ element: "movies", replace: true });
    expect(second).toMatchObject({ replaced: true });
    expect((await list()).references).toMatchObject([{ uri: second.uri, area: second.area }]);
    await clock.advance(hour + 1);
    await references.removeOrphans();
    await expect(pictureOf(first)).rejects.toMatchObject({ code: "REFERENCE_NOT_FOUND" });
    expect((await pictureOf(second)).length).toBeGreaterThan(0);
  });

  it("of twenty calls that save the same name at once, one succeeds and the others get ALREADY_EXISTS", async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => save({ element: "live" })));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of all)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "ALREADY_EXISTS" });
  });

  it("pictures go with their app, and with them what a killed writer left", async () => {
    const saved = await save({ element: "settings" });
    await writeFile(join(folder, `${randomUUID()}.tmp`), "half");
    await clock.advance(Date.now() - clock.now() + 2 * hour);
    await apps.remove(app, true);
    await expect(pictureOf(saved)).rejects.toMatchObject({ code: "REFERENCE_NOT_FOUND" });
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("a picture is found by its sha256 only, and a damaged one is not given", async () => {
    const saved = await save({ element: "live" });
    const [, name = ""] = (saved.uri ?? "").split("//");
    for (const wrong of ["../config", name.toUpperCase(), "", `${name}.png`])
      await expect(references.picture(wrong)).rejects.toMatchObject({ code: "REFERENCE_NOT_FOUND" });
    await writeFile(join(folder, `${name}.png`), "other bytes");
    await expect(references.picture(name)).rejects.toMatchObject({
      code: "REFERENCE_NOT_FOUND",
      message: expect.stringContaining("damaged"),
    });
  });

  it("an element of a dump in other pixels than the picture is cropped where it is in the picture", async () => {
    const large = await openBox({ factories: [withPictures({ width: 1280, height: 720, rotation: 0 })] });
    expect(await save({ element: "live" }, large)).toMatchObject({
      area: { x: 80, y: 280, width: 800, height: 100 },
    });
    const area = { x: 0, y: 120, width: 1280, height: 280 };
    expect(await save({ kind: "text", name: "top", area }, large)).toMatchObject({
      text: "Welcome home\nLive TV",
      area,
    });
    const yaml = parse(await files.exportYaml(app));
    expect(yaml.references).toMatchObject([
      { name: "Welcome", space: { width: 1280, height: 720, rotation: 0 } },
      { name: "top", space: { width: 1280, height: 720, rotation: 0 } },
    ]);
  });

  it("an element of a dump of another shape than the picture is refused, with both", async () => {
    const turned = await openBox({ factories: [withPictures({ width: 360, height: 640, rotation: 0 })] });
    const [from, to] = [
      { width: 640, height: 360, rotation: 0 },
      { width: 360, height: 640, rotation: 0 },
    ];
    await expect(save({ element: "live" }, turned)).rejects.toMatchObject({
      code: "SPACE_MISMATCH",
      details: { from, to },
    });
    expect((await list()).references).toEqual([]);
  });

  it("a file of before, without the size of the frames, is taken as it is", async () => {
    await save({ element: "live" });
    const old = (await files.exportYaml(app)).replace(/ +space: .+\n/, "");
    expect(old).not.toContain("space");
    await files.importYaml(old, true);
    expect((await list()).references).toHaveLength(1);
    expect(await files.exportYaml(app)).toBe(old);
  });

  it("a list stays within its tokens and says how many are left", async () => {
    for (let n = 0; n < 12; n++) await save({ kind: "text", name: `text ${n}`, text: "a b c d ".repeat(20) });
    const { references: shown, more } = await references.list({ userinterface_name: app, maxTokens: 300 });
    expect(shown.length).toBeGreaterThan(1);
    expect(more).toBe(12 - shown.length);
    expect(await references.list({ userinterface_name: app, model: "web", maxTokens: 300 })).toEqual({
      references: [],
      more: 0,
    });
  });

  it("the app's YAML carries texts and pictures, here and to another server", async () => {
    await save({ element: "live" });
    await save({ kind: "text", name: "Title", text: "Home: sweet" });
    const yaml = await files.exportYaml(app);
    const before = (await list()).references;
    await apps.remove(app, true);
    expect(await files.importYaml(yaml, false)).toMatchObject({ references: 2 });
    expect((await list()).references).toEqual(before);
    expect(await files.exportYaml(app)).toBe(yaml);
    const elsewhere = join(folder, "..", `elsewhere ${randomUUID()}`);
    const other = createReferences({
      ...{ db: storage.db, userinterfaces: apps, secrets: testSecrets(), clock },
      folder: elsewhere,
    });
    const files2 = createAppFiles({
      ...{ db: storage.db, clock },
      userinterfaces: apps,
      testcases: noTestcases,
      references: other,
      verbs: builtInVerbs,
    });
    expect(yaml).toContain("width: 640");
    await files2.importYaml(yaml, true);
    expect(await readdir(elsewhere)).toHaveLength(1);
    expect(await files2.exportYaml(app)).toBe(yaml);
  });

  it("a file that says nothing of references leaves them, one that names none removes them", async () => {
    await save({ element: "live" });
    const plain = `format_version: 1\nname: ${app}\nmodels: [simulated]\n`;
    await files.importYaml(plain, true);
    expect((await list()).references).toHaveLength(1);
    await files.importYaml(`${plain}references: []\n`, true);
    expect((await list()).references).toEqual([]);
  });

  it("a file with a broken picture, or with one name twice, changes nothing", async () => {
    await save({ element: "live" });
    const whole = await files.exportYaml(app);
    const wrong: [yaml: string, message: RegExp][] = [
      [whole.replace(/png: .{60}/, "png: iVBORw0KGgpqdW5r"), /png that is damaged/],
      [whole.replace(/png: .+/, "png: aGVsbG8="), /line \d+, column \d+ references\[0\].png: must be a PNG/],
      [`${whole}${whole.slice(whole.indexOf("  - kind: image"))}`, /references\[1\]: there is another/],
    ];
    for (const [yaml, message] of wrong) {
      await expect(files.importYaml(yaml, true), String(message)).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(message),
      });
    }
    expect(await files.exportYaml(app)).toBe(whole);
  });
});
