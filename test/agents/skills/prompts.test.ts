import { expect, test } from "vitest";
import { skills } from "./bench.ts";

test.each(skills)("the system prompt of $name names every tool that it holds", ({ tools, system_prompt }) => {
  const words = new Set(system_prompt.match(/\w+/g));
  expect(tools.filter((tool) => !words.has(tool))).toEqual([]);
});
