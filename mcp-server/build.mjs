// Bundles what runs into dist/: the daemon, the command line, the bridge and the agent client, which share chunks; worker threads and
// the demo's phone, one file each; the web page, and pages for hosts; PGlite's files, the agents, the add-ons and the licences of what is bundled. Then runs
// this build's own code to make the catalogue and the database template. Does nothing when no source has changed. `--fresh`
// always builds and leaves no chunk of an older build, as a package needs it.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { scripts } from "./bundleScript.mjs";
import { bundledLicences, external } from "./packages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const dist = join(here, "dist");
const pglite = join(root, "node_modules/@electric-sql/pglite");
const stampFile = join(dist, ".stamp");
const isFresh = process.argv.includes("--fresh");
/** A running process may still load its chunks. */
const keepOldMs = isFresh ? 0 : 600_000;
const template = "template.tar.br";

const sources = [
  ...["mcp-server/src", "mcp-server/migrations", "mcp-server/docs", "controllers/src", "controllers/lab"],
  ...["controllers/addons", "test/lab", "skills", "agent-client/src", "agent-client/agents"],
  ...["mcp-server/build.mjs", "mcp-server/bundleScript.mjs", "mcp-server/packages.mjs"],
  ...["mcp-server/package.json", "package.json", "package-lock.json"],
].map((path) => join(root, path));
/** For the editors of users. */
const schemas = ["app.schema.json", "test.schema.json", "config.schema.json", "gate.schema.json"];

/** Chunks are shared, and loaded when they are needed. */
const entries = {
  daemon: join(here, "src/main.ts"),
  cli: join(here, "src/cli/main.ts"),
  bridge: join(here, "src/cli/mcp.ts"),
  agent: join(here, "src/cli/agent.ts"),
};
/** One file each. No package has the phone and the set-top box, which are for the demo in a checkout. */
const singleFiles = {
  pgliteWorker: join(here, "src/storage/engine/pgliteWorker.ts"),
  expressionWorker: join(here, "src/services/values/expressionWorker.ts"),
  schemaWorker: join(here, "src/services/apps/apis/requests/schemaWorker.ts"),
  specWorker: join(here, "src/services/apps/apis/spec/specWorker.ts"),
  yamlWorker: join(here, "src/services/values/yamlWorker.ts"),
  simulatedPhone: join(root, "test/lab/android/index.ts"),
  kodiBox: join(root, "test/lab/tv/kodi/index.ts"),
};
/** SQLite looks for its WebAssembly next to its code, by a name that modules of this form lack. */
const sqliteWorker = join(here, "src/services/lab/investigations/sources/sqliteWorker.ts");
const sqliteWasm = join(root, "node_modules/node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm");
/** PGlite reads them from the folder of its code, here pgliteWorker.js, which unpacks and passes its data. */
const pgliteFiles = ["pglite.wasm", "initdb.wasm"];
const pgliteData = "pglite.data";
/** With a small window, unpacking needs little memory. A package gets the quality that saves 160 KB and takes 12 s. */
const brotli = {
  params: { [constants.BROTLI_PARAM_LGWIN]: 20, [constants.BROTLI_PARAM_QUALITY]: isFresh ? 10 : 9 },
};

/** zod carries its messages in all languages, and a bridge would parse them at every start. */
const onlyEnglish = {
  name: "only-english",
  setup(build) {
    build.onLoad({ filter: /zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Its entry for Node hides its parts from a bundler; its other entry has no default export. */
const wholeJsoncParser = {
  name: "whole-jsonc-parser",
  setup(build) {
    const entry = join(root, "node_modules/jsonc-parser/lib/esm/main.js");
    build.onResolve({ filter: /^jsonc-parser$/ }, () => ({ path: entry, namespace: "as-default" }));
    build.onLoad({ filter: /./, namespace: "as-default" }, ({ path }) => ({
      contents: `export * as default from ${JSON.stringify(path)};`,
      resolveDir: root,
    }));
  },
};

/** The SDK brings a JSON Schema compiler for the answers to forms. We ask no form, and every start would parse it. */
const withoutFormSchemas = {
  name: "without-form-schemas",
  setup(build) {
    const filter = /^@modelcontextprotocol\/server\/_shims$/;
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: "shims" }));
    build.onLoad({ filter: /./, namespace: "shims" }, () => ({
      contents: `
        export { default as process } from "node:process";
        export class DefaultJsonSchemaValidator {
          getValidator() { throw new Error("This build checks no answers to forms: mcp-server/build.mjs."); }
        }`,
    }));
  },
};

/** adbkit brings 300 KB of cryptography to read the public keys that its server for USB over TCP is sent. We start no such server. */
const withoutAdbKeys = {
  name: "without-adb-keys",
  setup(build) {
    build.onResolve({ filter: /^node-forge$/ }, ({ path }) => ({ path, namespace: "adb-keys" }));
    build.onLoad({ filter: /./, namespace: "adb-keys" }, () => ({
      contents: "export default { jsbn: {} };",
    }));
  },
};

const bundling = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["labwright"],
  plugins: [onlyEnglish, wholeJsoncParser, withoutFormSchemas, withoutAdbKeys, scripts],
  external: [...external, "pg-native"],
  legalComments: "none",
  logLevel: "warning",
  // Packages in CommonJS load Node's own modules with `require`.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
};

/** For browsers: Chrome and Edge 120, Firefox 121, Safari 17 and newer. */
const page = {
  absWorkingDir: root,
  entryPoints: { main: join(here, "src/dashboard/main.tsx"), style: join(here, "src/views/design.css") },
  bundle: true,
  minify: true,
  metafile: true,
  format: "esm",
  target: ["es2022", "chrome120"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

/** Pages for hosts, each one file: a host gives them no network (MCP Apps). */
const viewPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

async function buildViews(build, folder) {
  const { style } = page.entryPoints;
  const names = ["report", "device", "tree"];
  const scripts = names.map((name) => [name, join(here, "src/views/host", `${name}.tsx`)]);
  const entryPoints = { style, ...Object.fromEntries(scripts) };
  const { outputFiles, metafile } = await build({ ...page, entryPoints, outdir: folder, write: false });
  const textOf = (name) => outputFiles.find(({ path }) => basename(path) === name).text;
  mkdirSync(folder);
  for (const name of names)
    writeFileSync(
      join(folder, `${name}.html`),
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${viewPolicy}"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Labwright: ${name}</title><style>${textOf("style.css")}a[href="#"]{display:none}</style></head><body><script type="module">${textOf(`${name}.js`)}</script></body></html>`,
    );
  return { metafile };
}

function filesIn(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\](node_modules|out|dist)[/\\]/.test(file.slice(path.length)));
}

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap(filesIn).sort())
    hash.update(relative(root, file)).update("\0").update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

const isStamped = (file, stamp) => existsSync(file) && readFileSync(file, "utf8") === stamp;

const stamp = hashOf(sources);
if (isFresh || !isStamped(stampFile, stamp)) await buildAll();

async function buildAll() {
  const { build } = await import("esbuild");
  const fresh = join(here, `dist.${process.pid}`);
  try {
    const shipped = { ...bundling, outdir: fresh, minify: true, metafile: true };
    const parts = [
      await build({
        ...shipped,
        entryPoints: entries,
        chunkNames: "chunks/[name]-[hash]",
        splitting: true,
      }),
      await build({ ...shipped, entryPoints: singleFiles }),
      await build({
        ...shipped,
        entryPoints: { sqliteWorker },
        define: { __dirname: "import.meta.dirname" },
      }),
      await build({ ...page, outdir: join(fresh, "page") }),
      await buildViews(build, join(fresh, "views")),
    ];
    copyFileSync(join(here, "src/dashboard/index.html"), join(fresh, "page", "index.html"));
    const inputs = parts.flatMap(({ metafile }) => Object.keys(metafile.inputs));
    writeFileSync(join(fresh, "licences.txt"), bundledLicences(root, inputs));
    for (const name of pgliteFiles) copyFileSync(join(pglite, "dist", name), join(fresh, name));
    copyFileSync(sqliteWasm, join(fresh, basename(sqliteWasm)));
    const data = readFileSync(join(pglite, "dist", pgliteData));
    writeFileSync(join(fresh, `${pgliteData}.br`), brotliCompressSync(data, brotli));
    mkdirSync(join(fresh, "schemas"));
    for (const name of schemas)
      writeFileSync(join(fresh, "schemas", name), JSON.stringify(readJson(join(here, "docs", name))));
    cpSync(join(root, "agent-client/agents"), join(fresh, "agents"), { recursive: true });
    cpSync(join(root, "controllers/addons"), join(fresh, "addons"), { recursive: true, filter: isOfAddon });
    await generate(build, fresh);
    moveInto(dist, fresh);
    writeFileSync(stampFile, stamp);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Without the README for developers, and packages that were installed there by hand. */
function isOfAddon(path) {
  return basename(path) !== "node_modules" && path !== join(root, "controllers/addons/README.md");
}

/** Files that this build's own code makes. */
async function generate(build, fresh) {
  const generator = join(fresh, ".generate.mjs");
  await build({
    ...bundling,
    stdin: {
      contents: `
        export { tools } from "./src/tools/index.ts";
        export { buildCatalogue } from "./src/registry/catalogue.ts";
        export { latestSkills, loadSkills, skillMarkdown } from "@labwright/skills";
        export { makeTemplate } from "./src/storage/engine/makeTemplate.ts";`,
      resolveDir: here,
      loader: "ts",
    },
    outfile: generator,
    // PGlite finds its files only from its own package.
    external: [...bundling.external, "@electric-sql/pglite"],
  });
  const { tools, buildCatalogue, latestSkills, loadSkills, skillMarkdown, makeTemplate } = await import(
    pathToFileURL(generator).href
  );
  rmSync(generator);
  const { version } = readJson(join(root, "package.json"));
  const loaded = loadSkills(join(root, "skills"), new Set(tools.map(({ name }) => name)));
  for (const { file, line, message } of loaded.problems)
    process.stderr.write(`${relative(root, file)}:${line}: ${message}\n`);
  const skills = latestSkills(loaded.skills);
  const catalogue = buildCatalogue({
    tools,
    skills: skills.map((skill) => ({ ...skill, markdown: skillMarkdown(skill) })),
    version,
    build: { hash: stamp, at: new Date().toISOString() },
  });
  writeFileSync(join(fresh, "catalogue.json"), JSON.stringify(catalogue));
  writeFileSync(join(fresh, "skills.json"), JSON.stringify(skills));
  // The template takes seconds. It depends on its schema and on the version of PGlite.
  const templateStamp = hashOf([
    ...[join(pglite, "package.json"), join(here, "migrations")],
    join(here, "src/storage/engine/makeTemplate.ts"),
  ]);
  if (isStamped(join(dist, ".template-stamp"), templateStamp) && existsSync(join(dist, template))) return;
  await makeTemplate(join(fresh, template));
  writeFileSync(join(fresh, ".template-stamp"), templateStamp);
}

/** File by file, entries last: a process that starts meanwhile finds one build or the other. */
function moveInto(target, fresh) {
  const files = filesIn(fresh).map((file) => relative(fresh, file));
  const current = new Set(files);
  const isChunk = (file) => file.startsWith("chunks");
  for (const file of [...files.filter(isChunk), ...files.filter((file) => !isChunk(file))]) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    renameSync(join(fresh, file), join(target, file));
  }
  for (const file of filesIn(target)) {
    const name = relative(target, file);
    if (current.has(name) || [template, ".template-stamp", ".stamp"].includes(name)) continue;
    if (!isChunk(name) || Date.now() - statSync(file).mtimeMs > keepOldMs) rmSync(file, { force: true });
  }
}
