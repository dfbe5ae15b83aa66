import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/**
 * The bridge of a build, from its code cache: a host waits for it at each start, and half of that would be compiling. A cache
 * that another version of Node made is left aside. `script` makes the cache.
 */
export function loadBridge(dist) {
  const file = fileURLToPath(new URL("bridge.cjs", dist));
  const cache = new URL("bridge.cache", dist);
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, "utf8")}\n})`;
  const script = new Script(wrapped, { filename: file, cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return { ...module.exports, script };
}
