import { createHash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type NodeInput, nodeSchema } from "#mcp-server/domain/index.ts";
import { inProject } from "#mcp-server/services/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { openProduct, type Product } from "../../../fixtures/product.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const shop = `# The shop's screens.
name: shop
app: { url: "https://shop.test/" } # staging
nodes:
  # What a customer sees first.
  Home: check text "Welcome"
  Cart:
    checks: [check text "Your cart"]
    description: What was chosen # and is not paid
edges:
  Home -> Cart: click "Cart" # the button at the top
`;
const cartTest = `# A customer without anything in the cart.
name: the cart is empty
app: shop
steps:
  - go to Cart
  # Said in words.
  - check text "Nothing here"
`;
const [appFile, testFile] = ["labwright/apps/shop.yaml", "labwright/tests/cart.yaml"] as const;
const files = { [appFile]: shop, [testFile]: cartTest };
type Files = Readonly<Record<string, string>>;

let product: Product;
let folder: string;
const folders: string[] = [];
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
});
beforeEach(async () => {
  folder = await newFolder();
});
afterAll(async () => {
  await product.dispose();
  for (const one of folders) await rm(one, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "labwright-project-"));
  folders.push(made);
  return made;
}

async function write(given: Files, project = folder): Promise<void> {
  for (const [file, text] of Object.entries(given)) {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), text);
  }
}
const onDisk = (file: string, project = folder) => readFile(join(project, file), "utf8");

/** Loads what is given, as the command line does, `labwright` being whole. */
const load = (given: Files = files, project = folder) =>
  product.services.appFiles.load({
    project,
    files: Object.entries(given).map(([file, text]) => ({ file, hash: hashOf(text), text })),
    folders: ["labwright"],
  });

async function loaded(given: Files = files, project = folder) {
  await write(given, project);
  return load(given, project);
}

/** A call of a tool made in the folder of a project. */
const here = <T>(work: () => Promise<T>, project = folder) => inProject(project, work);
/** The database knows no file of the project. */
async function expectNothingStored(): Promise<void> {
  const asked = Object.entries(files).map(([file, text]) => ({ file, hash: hashOf(text) }));
  const { needs } = await product.services.appFiles.load({ project: folder, files: asked, folders: [] });
  expect(needs).toEqual(Object.keys(files));
  expect(await testsHere()).toEqual([]);
}

async function testsHere(): Promise<string[]> {
  const { testcases } = await tests().list({ maxTokens: 50_000 });
  return testcases.flatMap(({ name, project }) => (project === folder ? [name] : []));
}

const apps = () => product.services.userinterfaces;
const tests = () => product.services.testcases;
const saveTest = (name: string, ...steps: string[]) =>
  here(() => tests().saveFor({ name, app: "shop", steps }, {}, callContext(), true));
const change = (node: string, patch: Partial<NodeInput>) =>
  here(() => apps().updateNode("shop", node, patch));
const addNode = (label: string, ...texts: string[]) => {
  const verifications = texts.map((text) => ({ command: "text_visible", params: { text } }));
  return here(() => apps().createNode("shop", undefined, nodeSchema.parse({ label, verifications })));
};

describe("loading the files of a project", () => {
  test("asks for texts that the database does not know, and loads only what changed", async () => {
    await write(files);
    const asked = { project: folder, folders: ["labwright"] };
    const hashes = Object.entries(files).map(([file, text]) => ({ file, hash: hashOf(text) }));
    const { appFiles } = product.services;
    expect(await appFiles.load({ ...asked, files: hashes })).toMatchObject({
      needs: Object.keys(files),
      files: [],
    });
    expect((await load()).files).toMatchObject([
      { file: appFile, app: "shop", tests: [], changed: true },
      { file: testFile, tests: [{ name: "the cart is empty" }], changed: true },
    ]);
    const again = await appFiles.load({ ...asked, files: hashes });
    expect(again).toMatchObject({ files: [{ changed: false }, { changed: false }], archived: [] });
    expect(again).not.toHaveProperty("needs");
  });

  test("keeps tests in the order of their file, and loads tests that call each other across files", async () => {
    const calls = `app: shop
tests:
  - name: z comes first
    steps: [{ call: { testcase: the cart is empty } }]
  - name: a comes second
    steps: [go to Home]
`;
    const { files: first } = await loaded({ "labwright/tests/a-calls.yaml": calls, ...files });
    const names = ["z comes first", "a comes second"];
    expect(first[0]?.tests.map(({ name }) => name)).toEqual(names);
    const { files: second } = await load({ "labwright/tests/a-calls.yaml": calls, ...files });
    expect(second[0]).toMatchObject({ changed: false, tests: [{ name: names[0] }, { name: names[1] }] });
  });

  test("gives two projects their own apps and tests of one name", async () => {
    const other = await newFolder();
    const theirs = { ...files, [appFile]: shop.replace("shop.test", "other.test") };
    await loaded();
    await loaded(theirs, other);
    expect(await here(() => apps().get("shop"))).toMatchObject({
      app: { url: "https://shop.test/" },
    });
    expect(await here(() => apps().get("shop"), other)).toMatchObject({
      app: { url: "https://other.test/" },
    });
    const [own, their] = [folder, other].map((project) =>
      here(() => tests().load("the cart is empty"), project),
    );
    expect((await own)?.id).not.toBe((await their)?.id);
    await expect(tests().load("the cart is empty")).rejects.toMatchObject({
      code: "AMBIGUOUS",
      message: expect.stringContaining(folder),
    });
  });

  test("archives what a file, or a whole folder, holds no more, and takes it back with its id", async () => {
    const first = await loaded();
    const kept = { [appFile]: shop };
    expect((await load(kept)).archived).toEqual(["the cart is empty"]);
    expect(await testsHere()).toEqual([]);
    expect((await load()).files[1]?.tests).toEqual(first.files[1]?.tests);
    const renamed = cartTest.replace("the cart is empty", "no goods");
    const second = await loaded({ ...files, [testFile]: renamed });
    expect(second).toMatchObject({ archived: ["the cart is empty"] });
  });

  test("refuses two files with one name, and stores nothing of either", async () => {
    const twins = { ...files, "labwright/tests/twin.yaml": cartTest };
    await expect(loaded(twins)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringMatching(
        /twin\.yaml.*line 2.*"the cart is empty" is in labwright\/tests\/cart\.yaml too/s,
      ),
    });
    await expectNothingStored();
  });

  test("reports all that is wrong in all files, with their lines, and loads none", async () => {
    const wrong = {
      [appFile]: shop,
      "labwright/tests/a.yaml": "app: shop\nsteps:\n  - go to Crat\n",
      "labwright/tests/b.yaml": "app: shop\nsteps:\n  - clikc x\n",
    };
    await expect(loaded(wrong)).rejects.toMatchObject({
      message: expect.stringMatching(
        /a\.yaml cannot be imported: line 3.*Cart.*\n.*b\.yaml cannot be imported: line 3/s,
      ),
    });
    await expectNothingStored();
  });

  test("refuses a circle of calls", async () => {
    const circle = {
      ...files,
      "labwright/tests/one.yaml": "steps: [{ call: { testcase: two } }]\n",
      "labwright/tests/two.yaml": "steps: [{ call: { testcase: one } }]\n",
    };
    await expect(loaded(circle)).rejects.toMatchObject({
      message: expect.stringContaining("one calls two calls one: a test case cannot call itself"),
    });
  });
});

describe("what a tool saves of a project", () => {
  beforeEach(() => loaded().then(() => undefined));

  test("is written to the app's file, all else as its author wrote it", async () => {
    await change("Home", { verifications: [{ command: "text_visible", params: { text: "Hello" } }] });
    expect(await onDisk(appFile)).toBe(
      shop.replace('Home: check text "Welcome"', 'Home: check text "Hello"'),
    );
    await addNode("Orders", "Orders");
    const text = await onDisk(appFile);
    expect(text).toContain('  Orders: check text "Orders"\nedges:');
    for (const comment of shop.match(/#.*/g) ?? []) expect(text).toContain(comment);
    expect((await load({ ...files, [appFile]: text })).files).toMatchObject([
      { changed: false },
      { changed: false },
    ]);
  });

  test("is written through a link, and keeps the rights of the file", async () => {
    const elsewhere = join(folder, "elsewhere.yaml");
    await writeFile(elsewhere, shop);
    await chmod(elsewhere, 0o640);
    await rm(join(folder, appFile));
    await symlink(elsewhere, join(folder, appFile));
    await change("Cart", { label: "Basket" });
    expect(await readFile(elsewhere, "utf8")).toContain("  Basket:");
    expect((await lstat(join(folder, appFile))).isSymbolicLink()).toBe(true);
    expect((await stat(elsewhere)).mode & 0o777).toBe(0o640);
  });

  test.each([
    ["a file", async (outside: string) => symlink(join(outside, "kept.yaml"), join(folder, testFile))],
    [
      "a file that is not there",
      async (outside: string) => symlink(join(outside, "made.yaml"), join(folder, testFile)),
    ],
    [
      "a folder",
      async (outside: string) => {
        await rm(join(folder, dirname(testFile)), { recursive: true });
        await symlink(outside, join(folder, dirname(testFile)));
      },
    ],
  ])("is not read or written through a link out of the project: %s", async (_what, link) => {
    const outside = await mkdtemp(join(tmpdir(), "labwright-outside-"));
    await writeFile(join(outside, "kept.yaml"), cartTest);
    await rm(join(folder, testFile));
    await link(outside);
    for (const name of ["the cart is empty", "a new one"]) {
      const saved = await saveTest(name, "go to Cart", 'check text "Other"').catch((error: unknown) => error);
      if (name === "the cart is empty" || _what === "a folder")
        expect(saved).toMatchObject({ code: "PATH_DENIED" });
    }
    expect(await readdir(outside)).toEqual(["kept.yaml"]);
    expect(await readFile(join(outside, "kept.yaml"), "utf8")).toBe(cartTest);
  });

  test("renames a node and its edges where they stand", async () => {
    await change("Cart", { label: "Basket" });
    const text = await onDisk(appFile);
    expect(text).toBe(shop.replace("  Cart:", "  Basket:").replace("Home -> Cart:", "Home -> Basket:"));
  });

  test("keeps the comments of tests that stand next to the app, also when they name what is renamed", async () => {
    const inside = `${shop}tests:\n  # Of the sale.\n  - name: the sale\n    steps: [go to Cart] # soon\n`;
    await loaded({ [appFile]: inside });
    await change("Cart", { label: "Basket" });
    const text = await onDisk(appFile);
    expect(text).toBe(inside.replace("  Cart:", "  Basket:").replace("Home -> Cart:", "Home -> Basket:"));
    await saveTest("the sale", "go to Basket", "go to Home");
    expect(await onDisk(appFile)).toContain("# Of the sale.\n  - name: the sale\n    steps:");
    await here(() => tests().remove("the sale", true));
    expect(await onDisk(appFile)).not.toContain("the sale");
  });

  test("is written to the test's file, and a new test gets a file of its own", async () => {
    await saveTest("the cart is empty", "go to Cart", 'check text "Nothing is here"');
    expect(await onDisk(testFile)).toBe(cartTest.replace("Nothing here", "Nothing is here"));
    await saveTest("Home opens!", "go to Home");
    expect(await onDisk("labwright/tests/home-opens.yaml")).toBe(
      "name: Home opens!\napp: shop\nsteps:\n  - go to Home\n",
    );
    await here(() => tests().rename("Home opens!", "Home is there"));
    expect(await onDisk("labwright/tests/home-opens.yaml")).toContain("name: Home is there\n");
  });

  test("is written whole when several are saved at once, each after the one before", async () => {
    const nodes = Array.from({ length: 6 }, (_, at) => `Screen ${at}`);
    await Promise.all([...nodes.map((label) => addNode(label)), saveTest("the cart is empty", "go to Cart")]);
    const text = await onDisk(appFile);
    for (const label of nodes) expect(text).toContain(`  ${label}:`);
    expect(await onDisk(testFile)).not.toContain("Nothing here");
  });

  test("may have the name of what was archived", async () => {
    await load({ [appFile]: shop });
    await rm(join(folder, testFile));
    const saved = { name: "another", app: "shop", steps: ["go to Cart"] };
    await here(() => tests().createFor(saved, {}, callContext(), true));
    await here(() => tests().rename("another", "the cart is empty"));
    expect(await here(() => tests().load("the cart is empty"))).toMatchObject({
      source: { project: folder },
    });
  });

  test("is refused as FILE_CHANGED when someone changed the file, and nothing is stored", async () => {
    const edited = shop.replace("Welcome", "Good day");
    await write({ [appFile]: edited });
    await expect(change("Home", { label: "Start page" })).rejects.toMatchObject({
      code: "FILE_CHANGED",
      message: expect.stringContaining(appFile),
      hint: expect.stringContaining("labwright import labwright/apps/shop.yaml"),
    });
    expect(await onDisk(appFile)).toBe(edited);
    expect(await here(() => apps().getNode("shop", "Home"))).toMatchObject({ label: "Home" });
  });

  test("deletes no file: neither that of a test nor that of an app", async () => {
    await expect(here(() => tests().remove("the cart is empty", true))).rejects.toMatchObject({
      code: "PROTECTED",
      message: expect.stringContaining(testFile),
    });
    await expect(here(() => apps().remove("shop", true))).rejects.toMatchObject({
      code: "PROTECTED",
    });
    expect(await here(() => tests().load("the cart is empty"))).toMatchObject({
      name: "the cart is empty",
    });
  });

  test("leaves apps of the database alone, and what is exported into a project is kept there", async () => {
    const name = `own ${folder}`.slice(-40);
    const { appFiles } = product.services;
    await appFiles.importYaml(`name: "${name}"\nnodes: { Home: check text "Hi" }\n`, false);
    await apps().updateNode(name, "Home", { description: "first" });
    const yaml = await appFiles.exportYaml(name);
    await write({ "labwright/apps/own.yaml": yaml });
    await appFiles.keepIn(name, { project: folder, file: "labwright/apps/own.yaml", hash: hashOf(yaml) });
    await apps().updateNode(name, "Home", { description: "second" });
    expect(await onDisk("labwright/apps/own.yaml")).toBe(yaml.replace("first", "second"));
  });
});
