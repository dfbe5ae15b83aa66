import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { deviceModels } from "@labwright/controllers";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readYaml } from "#agent-client/cli/qa.ts";
import { readMessage } from "#agent-client/messages/envelope.ts";
import { qaPolicySchema } from "#agent-client/roles/critic.ts";
import { planSchema } from "#agent-client/roles/plan.ts";
import { planFlags } from "#agent-client/roles/planGuards.ts";
import { createProgram } from "#mcp-server/cli/program.ts";
import { builtInFactories } from "#mcp-server/config/controllers.ts";
import { separator } from "#mcp-server/services/apps/steps/index.ts";
import { openConfigFolder } from "../config/loading.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].concat(
  readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
);
const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const blocksOf = (page: string, language: string) =>
  [...textOf(page).matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );

it.each(pages)("the links of %s lead to files and headings that are there", (page) => {
  for (const [, target = ""] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file = "", heading] = target.split("#");
    const path = file === "" ? join(root, page) : join(root, dirname(page), file);
    expect(existsSync(path), `${target} in ${page}`).toBe(true);
    if (heading === undefined) continue;
    const headings = [...readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    );
    expect(headings, target).toContain(heading);
  }
});

describe("the walls of SECURITY.md", () => {
  const rows = [...textOf("SECURITY.md").matchAll(/^\| (?!Threat).*\|$/gm)].map(([row]) => row);

  it("are shown", () => expect(rows.length).toBeGreaterThan(15));

  it.each(rows)("are proved by tests that are there: %s", (row) => {
    const proofs = [...row.matchAll(/\[([^\]]+)\]\((test\/[^)]+)\)/g)];
    expect(proofs).not.toEqual([]);
    for (const [, title = "", file = ""] of proofs) expect(textOf(file)).toContain(`"${title}"`);
  });
});

describe("the commands of the command line", () => {
  const silent = { out() {}, err() {}, env: {}, cwd: root, signal: new AbortController().signal };
  const program = createProgram(silent, () => {});
  const linesOf = (page: string) =>
    blocksOf(page, "sh")
      .join("\n")
      .split("\n")
      .flatMap((line) => /^(?:npx )?labwright ([^#>]+)/.exec(line.trim())?.[1] ?? []);
  const lines = pages.flatMap((page) => linesOf(page).map((line) => [page, line.trim()] as const));

  it("are shown", () => expect(lines.length).toBeGreaterThan(20));

  it.each(lines)("%s: labwright %s", (_, line) => {
    const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).filter((word) => word !== "…");
    let command: Command = program;
    let found = command.commands.find((one) => one.name() === words[0]);
    expect(found, words[0]).toBeDefined();
    for (; found; found = command.commands.find((one) => one.name() === words[0])) {
      command = found;
      words.shift();
    }
    // What the agent client's command line takes is its own, and the words of do and check are the device's.
    if (["chat", "ask", "qa", "do", "check"].includes(command.name())) return;
    const options = command.options.flatMap(({ long, short }) => [long, short]);
    for (const word of words.filter((one) => one.startsWith("-"))) expect(options).toContain(word);
  });

  it("part their commands by the word that the command line knows", () => {
    expect(textOf("docs/guide.md")).toContain(` ${separator} `);
  });
});

describe("examples of apps and tests", () => {
  let product: Product;
  let client: TestClient;
  beforeAll(async () => {
    product = await openProduct("devices: [{ name: browser, model: web }]");
    client = await product.connect();
  });
  afterAll(() => product.dispose());

  it("are saved as they stand", async () => {
    const [app = "", test = ""] = blocksOf("docs/writing-tests.md", "yaml");
    const [first = ""] = blocksOf("README.md", "yaml");
    const [box = ""] = blocksOf("docs/tv.md", "yaml").filter((text) => !text.startsWith("devices:"));
    const called = "name: log out\napp: shop\nsteps: [go to Home]\n";
    for (const yaml of [app, called, test, first, box]) {
      const reply = await client.call("import_userinterface", { yaml, replace: true });
      expect(reply.error, yaml).toBeUndefined();
    }
    expect((await client.call("load_testcase", { testcase: "Buy a lamp" })).structured).toMatchObject({
      testcase: { steps: expect.any(Array) },
    });
  });
});

it("the plan, the policy and the message of labwright qa are read as they stand", () => {
  const [plan = "", policy = "", data = ""] = blocksOf("docs/qa.md", "yaml");
  const read = readYaml(planSchema, "plan", plan, "qa.yaml");
  expect(read.cases).toHaveLength(3);
  const withData = readYaml(planSchema, "plan", `${plan}${data}`, "qa.yaml");
  expect(withData.test_data.pii).toEqual(["phone"]);
  expect(planFlags(read, {}).filter(({ severity }) => severity === "blocker")).toEqual([]);
  expect(readYaml(qaPolicySchema, "policy", policy, "policy.yaml").min_quality_score).toBe(80);
  const [message = ""] = blocksOf("docs/qa.md", "json");
  expect(readMessage(JSON.parse(message)).constraints.max_execution_time).toBe(600_000);
});

describe("configurations", () => {
  const { load } = openConfigFolder();
  const configurations = ["README.md", "docs/android.md", "docs/appium.md", "docs/tv.md"].flatMap((page) =>
    blocksOf(page, "yaml")
      .filter((text) => /^devices:/m.test(text))
      .map((text) => [page, text] as const),
  );

  it("are shown", () => expect(configurations.length).toBeGreaterThan(3));

  it.each(configurations)("of %s are accepted: %s", (_, text) => {
    expect(load(text).devices.length).toBeGreaterThan(0);
  });

  it("are shown for each model of a TV, with a picture and keys", () => {
    const tvs = configurations.flatMap(([page, text]) => (page === "docs/tv.md" ? load(text).devices : []));
    const models = deviceModels.filter(({ needsMore }) => needsMore).map(({ name }) => name);
    expect([...new Set(tvs.map(({ model }) => model))].toSorted()).toEqual(models.toSorted());
    const remotes = builtInFactories.filter(({ kinds }) => kinds.includes("remote")).map(({ name }) => name);
    for (const { name, drivers } of tvs) {
      expect(drivers, name).toContain("av");
      expect(
        drivers.some((driver) => remotes.includes(driver)),
        name,
      ).toBe(true);
    }
  });
});

it("every page of the documentation is on its first page", () => {
  const index = textOf("docs/README.md");
  for (const page of pages.filter((name) => name.startsWith("docs/") && name !== "docs/README.md"))
    expect(index).toContain(relative("docs", page));
});
