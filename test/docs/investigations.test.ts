import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { run, temporaryFolder } from "../cli/fixtures.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/investigations.md", import.meta.url)), "utf8");
/** The examples by the file that each says it is of. */
const files = new Map(
  [...page.matchAll(/^```yaml\n# (\S+)\n(.*?)^```/gms)].map(([, name = "", text = ""]) => [name, text]),
);
const example = (name: string): string => {
  const text = files.get(name);
  if (text === undefined) throw new Error(`the page shows no ${name}`);
  return text;
};

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test("the page's own investigation loads and finds the cause of its test case", async () => {
  const labwright = (...args: string[]) =>
    run(args, { env: { LABWRIGHT_DATA_DIR: folder.path }, cwd: folder.path });
  const name = "find-lost-orders";
  const home = join(folder.path, "skills", name);
  expect(await labwright("skills", "new", name, "--tree")).toMatchObject({ code: 0 });
  const skill = join(home, "skill.yaml");
  writeFileSync(skill, stringify({ ...parse(readFileSync(skill, "utf8")), ...parse(example("skill.yaml")) }));
  for (const one of ["never_ran", "app_changed"]) rmSync(join(home, "test_cases", `${one}.yaml`));
  for (const file of ["decision_tree.yaml", "test_cases/lost.yaml"])
    writeFileSync(join(home, file), example(file));
  const { code, out, err } = await labwright("skills", "test", name);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`${name}: 1 of 1 test case right\n`);
  writeFileSync(
    join(home, "test_cases", "lost.yaml"),
    example("test_cases/lost.yaml").replace("status: lost", "status: customs"),
  );
  expect(await labwright("skills", "test", name)).toMatchObject({
    code: 1,
    out: expect.stringContaining("0 of 1"),
  });
});
