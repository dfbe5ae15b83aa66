import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

function write(name: string, tools: string): void {
  mkdirSync(join(folder.path, "skills", name), { recursive: true });
  const lines = [
    `name: ${name}`,
    "version: 1.0.0",
    "description: Looks at our lab.",
    "triggers: [look at our lab]",
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
  expect(out).toMatch(/^device-status@\d+\.\d+\.\d+: /m);
  expect(out).toContain("our-lab@1.0.0 (yours): Looks at our lab.\n");
});

test("skills list ends with 1 and names the line when a file of the user's is left out", async () => {
  write("our-lab", "[list_hosts, list_hosst]");
  const { code, out, err } = await skills("list");
  expect(code).toBe(1);
  expect(err).toMatch(/our-lab\/skill\.yaml:6: .*list_hosst/);
  expect(out).not.toContain("our-lab");
});

test("skills why names the skill that a request loads, the nearest phrases, and the gate that stopped it", async () => {
  write("our-lab", "[list_hosts, get_device_info]");
  const own = await skills("why", "please look at our lab");
  expect(own).toMatchObject({ code: 0 });
  expect(own.out).toMatch(/^It loads our-lab\.\n +\d+\.\d\d {2}our-lab +"look at our lab"$/m);
  const clear = await skills("why", "run the script goto on the tv");
  expect(clear.out).toContain("It loads run-script.");
  const short = await skills("why", "lamps");
  expect(short).toMatchObject({ code: 1 });
  expect(short.out).toMatch(
    /^It is asked which is meant: only 1 of its words say something, and 2 are needed/,
  );
  const far = await skills("why", "could you maybe check something");
  expect(far.out).toMatch(/fits -?\d+\.\d\d better than .*, and 0\.4 are needed|words say something/);
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
