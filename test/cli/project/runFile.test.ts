import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, vi } from "vitest";
import { projectFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const {
  place,
  write,
  labwright: runIn,
} = projectFolder({
  "labwright/apps/tv.yaml": 'name: tv\nmodels: [simulated]\nnodes:\n  Home: check text "Movies"\n',
  "labwright/tests/sign-in.yaml": 'steps:\n  - press HOME\n  - check text "Movies"\n',
});
const labwright = (...args: string[]) => runIn(args);

it("a file runs alone with the app, the set-up and the tests that it needs, and no other test runs", async () => {
  write(
    "labwright/tests/a.yaml",
    'app: tv\nsetup: sign-in\nsteps:\n  - go to Home\n  - check text "Movies"\n',
  );
  write("labwright/tests/b.yaml", 'app: tv\nsteps:\n  - run the test "sign-in"\n  - check text "Movies"\n');
  for (const name of ["a", "b"]) {
    const ran = await labwright("run", `labwright/tests/${name}.yaml`);
    expect(ran).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/\n1 run: 1 passed\n$/) });
    expect(ran.out).toMatch(new RegExp(`^passed +${name} `));
  }
});

it("a file that has nothing to do with it may be wrong, and what it needs may not", async () => {
  write("labwright/tests/torn.yaml", "steps: [");
  write("labwright/tests/a.yaml", 'app: tv\nsteps:\n  - go to Home\n  - check text "Movies"\n');
  expect(await labwright("run", "labwright/tests/a.yaml")).toMatchObject({ code: 0 });
  write("labwright/apps/tv.yaml", "name: tv\nmodels: [simulated]\nnodes: { Home: [nonsense] }\n");
  const ran = await labwright("run", "labwright/tests/a.yaml");
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("labwright/apps/tv.yaml") });
});

it("lint and import of a file know the project's apps, too", async () => {
  write("labwright/tests/a.yaml", 'app: tv\nsteps:\n  - go to Home\n  - check text "Movies"\n');
  const linted = await labwright("lint", "labwright/tests/a.yaml");
  expect(linted).toMatchObject({ code: 0, out: "2 files with 1 app and 1 test: nothing is wrong\n" });
  expect(await labwright("import", "labwright/tests/a.yaml")).toMatchObject({
    code: 0,
    out: expect.stringContaining("labwright/apps/tv.yaml: app tv, 0 tests"),
  });
});

it("--watch of a file runs its test again when its app changes", async () => {
  write("labwright/tests/a.yaml", 'app: tv\nsteps:\n  - go to Home\n  - check text "Movies"\n');
  const controller = new AbortController();
  const things = [
    () =>
      write("labwright/apps/tv.yaml", 'name: tv\nmodels: [simulated]\nnodes: { Home: check text "No" }\n'),
    () => controller.abort(),
  ];
  const onOut = (text: string) => text.startsWith("watching ") && things.shift()?.();
  const args = ["run", "labwright/tests/a.yaml", "--watch"];
  const { code, out } = await runIn(args, { signal: controller.signal, onOut });
  expect(out).toMatch(/passed +a .*changed: labwright\/apps\/tv\.yaml\n(?:failed|error) +a /s);
  expect(code).not.toBe(0);
});

it("rows lie next to the test's file, and nothing outside the project is read", async () => {
  const steps = 'inputs: [{ name: text }]\nsteps:\n  - press HOME\n  - check text "{{text}}"\n';
  write("labwright/tests/rows.yaml", `for_each: data/texts.csv\n${steps}`);
  write("labwright/tests/data/texts.csv", "text\nMovies\nNowhere\n");
  const ran = await labwright("run", "labwright/tests/rows.yaml");
  expect(ran).toMatchObject({ code: 1, out: expect.stringContaining("1 of 2 rows passed") });
  // The rows change and the test does not.
  write("labwright/tests/data/texts.csv", "text\nMovies\n");
  expect(await labwright("run", "labwright/tests/rows.yaml")).toMatchObject({ code: 0 });
  write("labwright/tests/rows.yaml", `for_each: ../../../outside.csv\n${steps}`);
  writeFileSync(join(dirname(place()), "outside.csv"), "text\nMovies\n");
  const outside = await labwright("run", "labwright/tests/rows.yaml");
  rmSync(join(dirname(place()), "outside.csv"));
  expect(outside).toMatchObject({ code: 2, out: expect.stringContaining("PATH_DENIED") });
  write("labwright/tests/rows.yaml", `for_each: nowhere.csv\n${steps}`);
  expect((await labwright("run", "labwright/tests/rows.yaml")).out).toMatch(
    /labwright\/tests has no "nowhere\.csv"\..*Put it next to\s+labwright\/tests\/rows\.yaml/s,
  );
});
