// `import { expression } from "./module.ts?script"` gives a module for a page as text: an expression whose value has its exports. For
// esbuild, which bundles the product, and for Vitest, which runs it from its sources.
import { dirname, resolve } from "node:path";
import { buildSync } from "esbuild";

const suffix = "?script";

function expressionOf(file) {
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    globalName: "inpage",
    target: "chrome120",
    conditions: ["labwright"],
    legalComments: "none",
  });
  return `(() => {${outputFiles[0].text}return inpage;})()`;
}

const asModule = (file) => `export const expression = ${JSON.stringify(expressionOf(file))};`;

/** The plugin for esbuild. */
export const scripts = {
  name: "scripts",
  setup(build) {
    build.onResolve({ filter: /\?script$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(0, -suffix.length)),
      namespace: "script",
    }));
    build.onLoad({ filter: /./, namespace: "script" }, ({ path }) => ({
      contents: asModule(path),
      watchFiles: [path],
    }));
  },
};

/** The plugin for Vitest. */
export const scriptsForVitest = {
  name: "scripts",
  enforce: "pre",
  resolveId(id, importer) {
    return id.endsWith(suffix) && importer ? resolve(dirname(importer), id) : undefined;
  },
  load(id) {
    return id.endsWith(suffix) ? asModule(id.slice(0, -suffix.length)) : undefined;
  },
};
