import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const faults = z
  .array(
    z.strictObject({
      what: z.string(),
      file: z.string(),
      text: z.string(),
      planted: z.string(),
      tests: z.array(z.string()).min(1),
    }),
  )
  .min(1)
  .parse(JSON.parse(readFileSync(new URL("faults.json", import.meta.url), "utf8")));
const root = new URL("../../", import.meta.url);

test.each(faults)("can be planted: $what", ({ file, text, planted, tests }) => {
  const source = readFileSync(new URL(file, root), "utf8");
  expect(source.split(text)).toHaveLength(2);
  expect(planted).not.toBe(text);
  expect(tests.filter((one) => !existsSync(new URL(one, root)))).toEqual([]);
});
