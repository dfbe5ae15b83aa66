// `import { expression } from "./module.ts?script"` gives a module for a page as text: an expression whose value has its exports. For
// esbuild, which bundles the product, and for Vitest, which runs it from its sources. `import { packed } from "package/file.js?packed"`
// gives a file of a package as it is, in Brotli and Base64, for a large script that few pages need. `import { style } from
// "./sheet.css?style"` gives a style sheet as text.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { buildSync, transformSync } from "esbuild";

const suffix = "?script";
const packedSuffix = "?packed";
const styleSuffix = "?style";

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

function asStyle(file) {
  const { code } = transformSync(readFileSync(`${file.replace(/\.css$/, "")}.css`, "utf8"), {
    loader: "css",
    minify: true,
  });
  return `export const style = ${JSON.stringify(code)};`;
}

const require = createRequire(import.meta.url);
const packedFile = (path) => require.resolve(path.slice(0, -packedSuffix.length));

function asPacked(file, quality) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  const packed = brotliCompressSync(readFileSync(file), { params }).toString("base64");
  return `export const packed = ${JSON.stringify(packed)};`;
}

/** By the end of a module's name. */
const asText = { [suffix]: asModule, [styleSuffix]: asStyle };
const kindOf = (id) => Object.keys(asText).find((kind) => id.endsWith(kind));

/** The plugin for esbuild. */
export const scripts = {
  name: "scripts",
  setup(build) {
    for (const [kind, contentsOf] of Object.entries(asText)) {
      const namespace = kind.slice(1);
      build.onResolve({ filter: new RegExp(`\\${kind}$`) }, ({ path, resolveDir }) => ({
        path: resolve(resolveDir, path.slice(0, -kind.length)),
        namespace,
      }));
      build.onLoad({ filter: /./, namespace }, ({ path }) => ({
        contents: contentsOf(path),
        watchFiles: [path],
      }));
    }
    // In the usual namespace, so that the licence of the package is found.
    build.onResolve({ filter: /\?packed$/ }, ({ path }) => ({
      path: packedFile(path),
      suffix: packedSuffix,
    }));
    build.onLoad({ filter: /./ }, ({ path, suffix: kind }) =>
      kind === packedSuffix ? { contents: asPacked(path, constants.BROTLI_MAX_QUALITY) } : undefined,
    );
  },
};

/** The plugin for Vitest. */
export const scriptsForVitest = {
  name: "scripts",
  enforce: "pre",
  resolveId(id, importer) {
    // Not by its path: what lies in node_modules is left to Node.
    if (id.endsWith(packedSuffix)) return `\0${id}`;
    // Without the ending of a style sheet, which Vite would compile itself.
    return kindOf(id) && importer ? resolve(dirname(importer), id.replace(".css?", "?")) : undefined;
  },
  load(id) {
    if (id.endsWith(packedSuffix))
      return asPacked(packedFile(id.replace("\0", "")), constants.BROTLI_MIN_QUALITY);
    const kind = kindOf(id);
    return kind && asText[kind](id.slice(0, -kind.length));
  },
};
