import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { npmEnv } from "../fixtures/packed.ts";

vi.setConfig({ hookTimeout: 120_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
let files = new Set<string>();

beforeAll(async () => {
  const args = ["pack", "--ignore-scripts", "--dry-run", "--json"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: root, env: npmEnv() });
  const [packed] = z
    .tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])
    .parse(JSON.parse(stdout));
  files = new Set(packed.files.map(({ path }) => path));
});

/** What a page links to besides itself and the web, as paths of the package: links and pictures, of Markdown and HTML. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8").replace(/^```.*?^```/gms, "");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
    ([, markdown, html]) => markdown ?? html ?? "",
  );
  return targets.flatMap((target) => {
    const [file = ""] = target.split("#");
    return file === "" || /^[a-z]+:/.test(target) ? [] : [join(dirname(page), file)];
  });
}

const isThere = (path: string) =>
  files.has(path) || [...files].some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`));

it("the packed file has the documentation with its pictures, and every page links to what is in it", () => {
  const pages = [...files].filter((file) => file.endsWith(".md") && !file.startsWith("mcp-server/dist/"));
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/README.md", "docs/words.md"]));
  for (const picture of ["docs/failing-check.png", "docs/failing-test.svg"]) expect(files).toContain(picture);
  const isPage = (page: string) => page === "README.md" || page.startsWith("docs/");
  const broken = pages.filter(isPage).flatMap((page) => {
    const missing = linksOf(page).filter((path) => !isThere(path));
    return missing.map((path) => `${page}: ${path}`);
  });
  expect(broken).toEqual([]);
});
