import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { atMost } from "#controllers/waiting/deadlines.ts";

it("a limit of time aborts also when memory is cleaned up before", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const control = new AbortController();
  const waiting = Array.from(
    { length: 20 },
    () =>
      new Promise((resolve) => {
        atMost(control.signal, 300).addEventListener("abort", resolve, { once: true });
      }),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let round = 0; round < 3; round++) collect();
  expect(await Promise.all(waiting)).toHaveLength(20);
}, 5_000);
