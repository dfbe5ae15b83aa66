import { rmSync } from "node:fs";
import { join } from "node:path";
import { type LoadedSkills, watchSkills } from "@labwright/skills";
import { expect, onTestFinished, test, vi } from "vitest";
import { emptyFolder, skillFolder, skillText, toolNames, writeSkill } from "./fixture.ts";

/** Watches until the test ends; `until` waits for a state in which what it is given holds. */
function watched(...folders: string[]) {
  const heard: LoadedSkills[] = [];
  const watch = watchSkills({
    folders,
    knownTools: toolNames,
    onChange: (loaded) => heard.push(loaded),
    debounceMs: 10,
  });
  onTestFinished(() => watch.close());
  const until = (expectation: (loaded: LoadedSkills) => void) =>
    vi.waitFor(() => expectation(watch.current()), { timeout: 20_000 });
  return { watch, heard, until };
}

const described = ({ skills }: LoadedSkills) => skills.map(({ name, description }) => [name, description]);

test("a changed, an added and a removed skill are seen without a restart", async () => {
  const folder = skillFolder({ demo: skillText() });
  const { watch, heard, until } = watched(folder);
  expect(described(watch.current())).toEqual([["demo", "A skill."]]);

  writeSkill(folder, "demo", skillText({ description: "Changed." }));
  await until((loaded) => expect(described(loaded)).toEqual([["demo", "Changed."]]));
  writeSkill(folder, "more", skillText({ name: "more" }));
  await until((loaded) => expect(described(loaded)).toHaveLength(2));
  writeSkill(folder, "more", skillText({ name: "more", description: "Also watched." }));
  await until((loaded) => expect(described(loaded)).toContainEqual(["more", "Also watched."]));
  rmSync(join(folder, "demo"), { recursive: true });
  await until((loaded) => expect(described(loaded)).toEqual([["more", "Also watched."]]));
  expect(heard.at(-1)).toEqual(watch.current());
});

test("a broken edit keeps the last good state and is reported; mending it ends the report", async () => {
  const folder = skillFolder({ demo: skillText(), other: skillText({ name: "other" }) });
  const { until } = watched(folder);
  writeSkill(
    folder,
    "demo",
    skillText({ description: "Broken.", tools: "[execute_testcases, get_device_info]" }),
  );
  await until((loaded) => {
    expect(loaded.problems).toEqual([
      {
        file: join(folder, "demo", "skill.yaml"),
        line: 6,
        message: "tools.0: no tool is called execute_testcases; the nearest is execute_testcase",
      },
    ]);
    expect(described(loaded)).toEqual([
      ["demo", "A skill."],
      ["other", "A skill."],
    ]);
  });
  writeSkill(folder, "demo", skillText({ description: "Mended." }));
  await until((loaded) => {
    expect(loaded.problems).toEqual([]);
    expect(described(loaded)).toContainEqual(["demo", "Mended."]);
  });
});

test("a user's folder that comes later is waited for, and its skills replace shipped ones", async () => {
  const shipped = skillFolder({ demo: skillText() });
  const user = join(emptyFolder(), "not", "yet");
  const { until } = watched(shipped, user);
  writeSkill(user, "demo", skillText({ description: "Mine." }));
  await until((loaded) => expect(described(loaded)).toEqual([["demo", "Mine."]]));
  rmSync(user, { recursive: true });
  await until((loaded) => expect(described(loaded)).toEqual([["demo", "A skill."]]));
  writeSkill(user, "demo", skillText({ description: "Again." }));
  await until((loaded) => expect(described(loaded)).toEqual([["demo", "Again."]]));
});

test("a closed watch hears nothing more", async () => {
  const folder = skillFolder({ demo: skillText() });
  const closed = watched(folder);
  const open = watched(folder);
  closed.watch.close();
  closed.watch.close();
  writeSkill(folder, "demo", skillText({ description: "Changed." }));
  await open.until((loaded) => expect(described(loaded)).toEqual([["demo", "Changed."]]));
  expect(closed.heard).toEqual([]);
  expect(described(closed.watch.current())).toEqual([["demo", "A skill."]]);
});
