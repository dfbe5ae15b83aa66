import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run, temporaryFolder } from "./fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const skills = (...args: string[]) =>
  run(["skills", ...args], { env: { LABWRIGHT_DATA_DIR: folder.path }, cwd: folder.path });

function write(name: string, tools: string, trigger = "look at our lab"): void {
  mkdirSync(join(folder.path, "skills", name), { recursive: true });
  const lines = [
    `name: ${name}`,
    "version: 1.0.0",
    "description: Looks at our lab.",
    `triggers: [${trigger}]`,
    "system_prompt: Look at it.",
    `tools: ${tools}`,
    "timeout_seconds: 60",
  ];
  writeFileSync(join(folder.path, "skills", name, "skill.yaml"), `${lines.join("\n")}\n`);
}

test("skills list shows ours and the user's own, without a daemon", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  const { code, out } = await skills("list");
  expect(code).toBe(0);
  expect(out).toMatch(/^device-status +\d+\.\d+\.\d+ +Labwright +\w/m);
  expect(out).toMatch(/^our-lab +1\.0\.0 +you +Looks at our lab\.$/m);
});

test("skills list ends with 1 and names the line when a file of the user's is left out", async () => {
  write("our-lab", "[list_hosts, list_hosst]");
  const { code, out, err } = await skills("list");
  expect(code).toBe(1);
  expect(err).toMatch(/our-lab\/skill\.yaml:6: .*list_hosst/);
  expect(out).not.toContain("our-lab");
});

test("skills why names the skill that a request loads and the phrase, or the reason and the nearest skills", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  const own = await skills("why", "please look at our lab");
  expect(own).toMatchObject({ code: 0, out: 'It loads our-lab, by "look at our lab".\n' });
  const clear = await skills("why", "run the script goto on stb-3");
  expect(clear.out).toContain("It loads run-script,");
  const unknown = await skills("why", "lamps");
  expect(unknown).toMatchObject({ code: 1 });
  expect(unknown.out).toMatch(
    /^Its words load no skill: it does not begin with a trigger\..*\nNo skill shares/,
  );
  const near = await skills("why", "our lab looks dark");
  expect(near.out).toMatch(/^ {2}our-lab +"look at our lab"$/m);
});

test("skills export writes the named ones as SKILL.md, and refuses a name that is not there", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  const { code } = await skills("export", "out", "our-lab", "device-status");
  expect(code).toBe(0);
  expect(readFileSync(join(folder.path, "out/our-lab/SKILL.md"), "utf8")).toContain("name: our-lab\n");
  expect(readFileSync(join(folder.path, "out/device-status/SKILL.md"), "utf8")).toContain("---\n\n");
  const unknown = await skills("export", "out", "our-labb");
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.err).toContain("No skill is called our-labb.");
});

const file = (...path: string[]) => join(folder.path, "skills", ...path);

test("skills new writes a skill that loads, has three triggers, says what each key is for, and passes its test", async () => {
  const made = await skills("new", "tidy-bench");
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(made.out).toContain("labwright skills test tidy-bench");
  const lines = readFileSync(file("tidy-bench", "skill.yaml"), "utf8").trimEnd().split("\n");
  const keys = lines.flatMap((line, at) => (/^[a-z_]+:/.test(line) ? [lines[at - 1]] : []));
  expect(keys).toHaveLength(9);
  for (const comment of keys) expect(comment).toMatch(/^# [A-Z\dt].*\.$/);
  expect((await skills("list")).out).toMatch(/^tidy-bench +1\.0\.0 +you /m);
  expect(await skills("test", "tidy-bench")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^skill +right +wrong +undecided\ntidy-bench +12 +0 +0\n$/),
  });
  const loaded = await skills("why", "please start the tidy bench");
  expect(loaded.out).toContain("It loads tidy-bench,");
});

test("a new skill of one word, or of words that say little, passes its test too", async () => {
  for (const name of ["lamps", "do-it"]) {
    expect(await skills("new", name)).toMatchObject({ code: 0, err: "" });
    expect(await skills("test", name)).toMatchObject({ code: 0 });
  }
  expect(await skills("test")).toMatchObject({ code: 0 });
});

test("skills new refuses a wrong name, one of Labwright's skills and a folder that is there, and writes nothing", async () => {
  for (const name of ["Tidy Bench", "../out", "", "x".repeat(65)]) {
    const wrong = await skills("new", name);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("cannot be a skill's name") });
  }
  expect((await skills("new", "run-testcase")).err).toContain("a skill of Labwright itself");
  expect(readdirSync(folder.path)).not.toContain("skills");
  await skills("new", "tidy-bench", "--into", "elsewhere");
  appendFileSync(join(folder.path, "elsewhere/tidy-bench/skill.yaml"), "# mine\n");
  const again = await skills("new", "tidy-bench", "--into", "elsewhere");
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining("exists already") });
  expect(readFileSync(join(folder.path, "elsewhere/tidy-bench/skill.yaml"), "utf8")).toContain("# mine");
});

test("skills new refuses a name whose phrases another skill has, and leaves nothing", async () => {
  write("lamp-care", "[list_hosts, get_device_info]");
  writeFileSync(file("lamp-care", "examples.txt"), "lamps routine\n");
  const { code, err } = await skills("new", "lamps");
  expect(code).toBe(2);
  expect(err).toMatch(
    /"lamps routine" chooses no skill: it is a trigger of lamp-care and of lamps.* Choose a more specific name/,
  );
  expect(readdirSync(file())).toEqual(["lamp-care"]);
});

test("skills test says which request is undecided, where it stands and why", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  writeFileSync(
    file("our-lab", "examples.txt"),
    "# said by the night shift\nlook at our place in the cellar\n\nrun script\n",
  );
  writeFileSync(file("our-lab", "counterexamples.txt"), "what is for dinner\nplease look at our lab\n");
  write("our-bench", "[list_hosts, get_device_info]");
  const { code, out, err } = await skills("test");
  expect({ code, err }).toEqual({ code: 1, err: "" });
  expect(out).toMatch(/^our-bench +0 +0 +3$/m);
  expect(out).toMatch(/^our-lab +3 +0 +4$/m);
  expect(out).toContain(
    `${file("our-bench", "skill.yaml")}:4: "look at our lab" chooses no skill: it is a trigger of our-bench and of our-lab`,
  );
  expect(out).toMatch(
    /examples\.txt:4: "run script" chooses no skill: it is a trigger of our-lab and of run-script/,
  );
  const alone = await skills("test", "our-lab");
  expect(alone.out).not.toMatch(/^our-bench /m);
});

test("skills test says which other skill a request chooses", async () => {
  write("our-lab", "[list_hosts, get_device_info]", "hello");
  write("our-bench", "[list_hosts, get_device_info]", "please hello");
  const { code, out } = await skills("test", "our-lab");
  expect(code).toBe(1);
  expect(out).toMatch(/^our-lab +1 +1 +1$/m);
  expect(out).toContain(`${file("our-lab", "skill.yaml")}:4: "please hello" chooses our-bench\n`);
});

test("skills test counts a counterexample that chooses the skill as wrong", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  writeFileSync(file("our-lab", "counterexamples.txt"), "what is for dinner\nplease look at our lab\n");
  const { code, out } = await skills("test");
  expect(code).toBe(1);
  expect(out).toMatch(/^our-lab +4 +1 +0$/m);
  expect(out).toContain(`counterexamples.txt:2: "please look at our lab" chooses our-lab, and must not\n`);
});

test("skills test reports the problems of files with their lines, and the names that it does not find", async () => {
  expect(await skills("test")).toMatchObject({ code: 2, err: expect.stringContaining("skills new <name>") });
  write("our-lab", "[list_hosts, get_device_info]");
  write("our-bench", "[list_hosts, list_hosst]");
  const both = await skills("test");
  expect(both).toMatchObject({
    code: 1,
    err: expect.stringMatching(/our-bench\/skill\.yaml:6: .*list_hosst/),
  });
  expect(both.out).toMatch(/^our-lab +3 +0 +0$/m);
  expect(await skills("test", "our-lab")).toMatchObject({ code: 0, err: "" });
  expect(await skills("test", "our-bench")).toMatchObject({ code: 1 });
  const unknown = await skills("test", "our-lamp");
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining("No skill called our-lamp in"),
  });
});
