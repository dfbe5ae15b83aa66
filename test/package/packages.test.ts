import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { satisfies } from "semver";
import { expect, it } from "vitest";
import { z } from "zod";
import { runtimePackages } from "../../mcp-server/packages.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const oldestNode = "20.19.0";
const manifest = (file: string) =>
  z
    .object({
      version: z.string(),
      engines: z.object({ node: z.string() }),
      dependencies: z.record(z.string(), z.string()),
    })
    .parse(JSON.parse(readFileSync(`${root}${file}`, "utf8")));
const packages = runtimePackages(root);

it("knows what runs: bundled packages and those next to the bundles, with what they need", () => {
  const names = packages.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["zod", "pg", "@electric-sql/pglite", "@img/colour", "engine.io"]),
  );
  expect(names).not.toContain("vitest");
});

it.each(
  packages.map(({ name, version, node }) => [`${name}@${version}`, node] as const),
)("%s takes the oldest Node that we promise", (_, node) => {
  expect(node === undefined || satisfies(oldestNode, node), node).toBe(true);
});

it("promises that Node, and installs what the workspaces were built with", () => {
  const own = manifest("package.json");
  expect(own.engines.node).toBe(`>=${oldestNode.replace(/\.0$/, "")}`);
  const workspaces = ["controllers", "mcp-server"].map(
    (name) => manifest(`${name}/package.json`).dependencies,
  );
  for (const [name, version] of Object.entries(own.dependencies))
    expect(workspaces.flatMap((dependencies) => dependencies[name] ?? [])).toContain(version);
  for (const dependencies of workspaces)
    expect({ ...dependencies, ...own.dependencies }).toEqual({ ...own.dependencies, ...dependencies });
});

it("lists them with version and licence in docs/packages.md", async () => {
  const lines = packages.map(
    ({ name, version, license, optional }) =>
      `| ${name} | ${version} | ${license || "none given"} | ${optional ? "where the platform needs it" : ""} |`,
  );
  const text = `# Packages that run in Labwright

Generated from the lockfile by \`npm run gen\`. Most are bundled into \`dist/\`, with their licences in \`dist/licences.txt\`; \`playwright-core\` and \`sharp\` are installed next to it.

| package | version | licence | |
|---|---|---|---|
${lines.join("\n")}
`;
  expect(packages.filter(({ license }) => license === "")).toEqual([]);
  await expect(text).toMatchFileSnapshot("../../docs/packages.md");
});
