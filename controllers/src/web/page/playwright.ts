import { createRequire } from "node:module";

type Playwright = typeof import("playwright-core");
let loaded: Playwright | undefined;

/** Playwright, loaded on first use: it costs a process 90 MB and most of its start. */
export function playwright(): Playwright {
  const load: (name: string) => Playwright = createRequire(import.meta.url);
  loaded ??= load("playwright-core");
  return loaded;
}
