import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
// Inside node_modules, so that the packages left outside the bundle are found from there.
const outfile = join(root, "node_modules", ".cache", "labwright-bench", "bench.mjs");

const packagesStayOutside = {
  name: "packages-stay-outside",
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith("@labwright/") ? undefined : { path, external: true },
    );
  },
};

await mkdir(dirname(outfile), { recursive: true });
await build({
  entryPoints: [join(here, "bench.ts")],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["labwright"],
  plugins: [packagesStayOutside],
});
const { main } = await import(pathToFileURL(outfile).href);
process.exitCode = await main({ root, args: process.argv.slice(2) });
