import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { run, temporaryFolder } from "./fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const folder = temporaryFolder();
const env = { LABWRIGHT_DATA_DIR: join(folder.path, "data") };
afterAll(async () => {
  await run(["stop"], { env, cwd: folder.path });
  folder.remove();
});
beforeEach(() => {
  rmSync(join(folder.path, "labwright"), { recursive: true, force: true });
  write("data/labwright.yaml", "devices: [{ name: box, model: simulated }]");
  write(
    "labwright/apps/tv.yaml",
    'name: tv\nmodels: [simulated]\nnodes:\n  Home: check text "Movies"\nedges: {}',
  );
});

function write(name: string, text: string): void {
  const file = join(folder.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
}
const test = (name: string, text: string) =>
  write(
    `labwright/tests/${name}.yaml`,
    `name: ${name}\napp: tv\nsteps:\n  - press HOME\n  - check text "${text}"`,
  );

/** Watches, and does the next thing each time that it waits for changes. */
async function watching(...things: (() => void)[]) {
  const controller = new AbortController();
  const rounds: string[] = [""];
  const ended = await run(["run", "labwright", "--watch"], {
    env,
    cwd: folder.path,
    signal: controller.signal,
    onOut(text) {
      rounds[rounds.length - 1] += text;
      if (!text.startsWith("watching ")) return;
      const thing = things.shift();
      rounds.push("");
      if (thing) thing();
      else controller.abort();
    },
    onErr(text) {
      rounds[rounds.length - 1] += text;
    },
  });
  return { ...ended, rounds };
}
const runsIn = (text = "") =>
  [...text.matchAll(/^(?:\[\d+\/\d+\] )?(?:passed|failed) +(\S+)/gm)].map(([, name]) => name);

it("runs all, then what changed, of an app all its tests, and a burst of saves once", async () => {
  test("one", "Movies");
  test("two", "Movies");
  const { code, rounds } = await watching(
    () => test("two", "Settings"),
    () =>
      write(
        "labwright/apps/tv.yaml",
        'name: tv\nmodels: [simulated]\nnodes:\n  Home: check text "Settings"\nedges: {}',
      ),
    () => {
      test("three", "Movies");
      for (const text of ["Mo", "Mov", "Nothing like it"]) test("one", text);
    },
  );
  expect(runsIn(rounds[0])).toEqual(["one", "two"]);
  expect(runsIn(rounds[1])).toEqual(["two"]);
  expect(runsIn(rounds[2])).toEqual(["one", "two"]);
  expect(rounds[3]).toMatch(/changed: labwright\/tests\/one\.yaml, labwright\/tests\/three\.yaml\n/);
  expect(runsIn(rounds[3])).toEqual(["one", "three"]);
  expect(code).toBe(1);
});

it("says where a file broke, keeps what was saved, and goes on when it is right again", async () => {
  test("one", "Movies");
  let atBreak = "";
  const { code, rounds, err } = await watching(
    () => write("labwright/tests/one.yaml", "name: one\napp: tv\nsteps:\n  - prss HOME"),
    () => {
      atBreak = "seen";
      test("one", "Settings");
    },
  );
  expect(err).toMatch(/one\.yaml.*line 4/);
  expect(atBreak).toBe("seen");
  expect(rounds.flatMap(runsIn)).toEqual(["one", "one"]);
  expect(code).toBe(0);
});

it("needs files or folders, or a project around it", async () => {
  const cases = [
    { args: ["sign in"], cwd: folder.path },
    { args: [], cwd: tmpdir() },
  ];
  for (const { args, cwd } of cases)
    expect(await run(["run", ...args, "--watch"], { env, cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining("labwright run labwright --watch"),
    });
});
