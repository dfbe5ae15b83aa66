import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { z } from "zod";
import { packageFolder } from "../../storage/engine/packageFolder.ts";

const fileSchema = z.object({
  tests: z.array(z.object({ name: z.string(), tags: z.array(z.string()).default([]) })),
});

/** The app's model as in git. `testcases` are the ones to run; they call the others. */
export type DemoModel = {
  testcases: readonly string[];
  /** The model as one implementation's own userinterface. The test cases come with the first and serve all. */
  yamlFor(implementation: { userinterface: string; url: string; withTestcases: boolean }): string;
};

/** An app of the demo, as its file says, with the names of its test cases: `phoneShop.yaml` or `kodi.yaml`. */
export async function readDemoFile(name: string): Promise<{ testcases: readonly string[]; yaml: string }> {
  const yaml = await readFile(join(packageFolder(), "demo", name), "utf8");
  const { tests } = fileSchema.parse(parseDocument(yaml).toJS());
  return { testcases: tests.map(({ name }) => name), yaml };
}

/** `folder` is that of the package. */
export async function readModel(folder = packageFolder()): Promise<DemoModel> {
  const text = await readFile(join(folder, "demo", "todomvc.yaml"), "utf8");
  const { tests } = fileSchema.parse(parseDocument(text).toJS());
  return {
    testcases: tests.filter(({ tags }) => !tags.includes("part")).map(({ name }) => name),
    yamlFor({ userinterface, url, withTestcases }) {
      const document = parseDocument(text);
      document.set("name", userinterface);
      document.setIn(["app", "url"], url);
      if (!withTestcases) document.delete("tests");
      return document.toString({ lineWidth: 0 });
    },
  };
}
