import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { annotationText } from "#mcp-server/cli/run/annotations.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-annotations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const annotate = (
  text: string,
  {
    name,
    path,
    file = "a.yaml",
    message = "no",
  }: { name: string; path?: string; file?: string; message?: string },
) => {
  writeFileSync(join(folder, file), text);
  const env = { GITHUB_ACTIONS: "true" };
  return annotationText({ name, file, path, message }, { env, cwd: folder });
};

test("an annotation is at the line of the failed step, also of a retry, a loop and a test among several", async () => {
  const one = '# about\nname: a\nsteps:\n  - press OK\n  - check text "B"\n';
  expect(await annotate(one, { name: "a", path: "s2" })).toBe("::error file=a.yaml,line=5::a: no\n");
  expect(await annotate(one, { name: "a", path: "attempt2/s1" })).toContain("line=4::");
  expect(await annotate(one, { name: "a", path: "setup/s1" })).toContain("line=2::");
  expect(await annotate("steps: [press OK]\n", { name: "a", path: "s1" })).toContain("line=1::");
  const several =
    "tests:\n  - name: a\n    steps: [press OK]\n  - name: b\n    steps:\n      - press OK\n      - check: { id: last }\n";
  expect(await annotate(several, { name: "b", path: "s1" })).toContain("line=6::");
  expect(await annotate(several, { name: "b", path: "last" })).toContain("line=7::");
  const blocks = "name: a\nblocks:\n  - id: start\n  - id: rounds\n    body: {}\n";
  expect(await annotate(blocks, { name: "a", path: "rounds[0]/look" })).toContain("line=4::");
});

test("GitHub's signs are escaped, and other places get no annotation", async () => {
  const file = "a,b%:c.yaml";
  expect(await annotate("name: x\n", { name: "x", file, message: "50 %\nthen, a:b" })).toBe(
    "::error file=a%2Cb%25%3Ac.yaml,line=1::x: 50 %25%0Athen, a:b\n",
  );
  const fault = { name: "x", file: undefined, path: undefined, message: "no" };
  expect(await annotationText(fault, { cwd: folder, env: {} })).toBe("");
  expect(await annotationText(fault, { cwd: folder })).toBe("");
});
