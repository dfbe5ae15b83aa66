import { readFileSync } from "node:fs";

const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/**
 * What the bundles leave outside, and the package that people install brings beside them: sharp's libraries lie beside its
 * code, and Playwright starts programs of its own.
 */
export const external = Object.keys(dependencies);
