// Bundles what runs (dist/): the bridge alone, so that a host has its listings in a moment; the daemon; the command
// line; the agent client, with the files of its agents and the add-ons beside it; the threads of workers.mjs, with
// PGlite; the licences of what is bundled. Then the catalogue and the database template, made by code of this build.
// Does nothing when no source has changed. With --fresh it leaves no chunk of an older build, as a package wants it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { scripts } from "./bundleScript.mjs";
import { external } from "./external.mjs";
import { bundledLicences } from "./packages.mjs";
import { pgliteFiles, workers } from "./workers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const dist = join(here, "dist");
const pglite = join(root, "node_modules/@electric-sql/pglite");
const stampFile = join(dist, ".stamp");
const sources = [
  "mcp-server/src",
  "mcp-server/migrations",
  "controllers/src",
  "controllers/lab",
  "controllers/addons",
  "test/lab",
  "skills",
  "agent-client/src",
  "agent-client/agents",
];
/** What editors check files of users by. */
const schemas = ["app.schema.json", "test.schema.json", "config.schema.json"];
const others = [
  ...schemas.map((name) => `mcp-server/docs/${name}`),
  "mcp-server/bundleScript.mjs",
  "mcp-server/build.mjs",
  "mcp-server/external.mjs",
  "mcp-server/workers.mjs",
  "mcp-server/packages.mjs",
  "mcp-server/bin/loadBridge.js",
  "mcp-server/package.json",
  "package.json",
  "package-lock.json",
];
/** zod carries its messages in all languages; ours is English, and the bridge would parse the rest at every start. */
const onlyEnglish = {
  name: "only-english",
  setup(build) {
    build.onLoad({ filter: /zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** The entry that Node takes of it hides its parts from a bundler; its other one has no default export. */
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

const bundling = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["labwright"],
  plugins: [onlyEnglish, wholeJsoncParser, scripts],
  external: [...external, "pg-native"],
  legalComments: "none",
  logLevel: "warning",
  // Packages in CommonJS ask for node's own modules with it.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
};
/** Chunks that a running process may still want to load. */
const keepOldMs = process.argv.includes("--fresh") ? 0 : 600_000;

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/[/\\](node_modules|out|dist)([/\\]|$)/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
}

function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(relative(root, file)).update("\0").update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

function isDone(stamp) {
  if (keepOldMs === 0 || !existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) return false;
  return [
    "bridge.cjs",
    "bridge.cache",
    "daemon.js",
    "cli.js",
    "agent.js",
    "simulatedPhone.js",
    "agents/assistant.yaml",
    ...Object.keys(workers).map((name) => `${name}.js`),
    ...pgliteFiles,
    "licences.txt",
    ...schemas.map((name) => `schemas/${name}`),
    "catalogue.json",
    "skills.json",
    "template.tgz",
  ].every((file) => existsSync(join(dist, file)));
}

const stamp = hashOf([
  ...sources.flatMap((folder) => filesIn(join(root, folder))),
  ...others.map((f) => join(root, f)),
]);
if (!isDone(stamp)) await buildAll(stamp);

async function buildAll(hash) {
  const { build } = await import("esbuild");
  const fresh = join(here, `dist.${process.pid}`);
  try {
    const main = await build({
      entryPoints: {
        daemon: join(here, "src/main.ts"),
        cli: join(here, "src/cli/main.ts"),
        agent: join(here, "src/cli/agent.ts"),
        // For the demo in a checkout; no package has it.
        simulatedPhone: join(root, "test/lab/android/index.ts"),
      },
      outdir: fresh,
      chunkNames: "chunks/[name]-[hash]",
      splitting: true,
      minify: true,
      metafile: true,
      ...bundling,
    });
    const threads = await build({
      entryPoints: Object.fromEntries(
        Object.entries(workers).map(([name, file]) => [name, join(here, file)]),
      ),
      outdir: fresh,
      minify: true,
      metafile: true,
      ...bundling,
    });
    for (const name of pgliteFiles) copyFileSync(join(pglite, "dist", name), join(fresh, name));
    const inputs = [main, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs));
    writeFileSync(join(fresh, "licences.txt"), bundledLicences(root, inputs));
    await build({
      ...bundling,
      // The bridge reads a configuration by its drivers, and drives no device.
      external: [...bundling.external, "@devicefarmer/adbkit"],
      entryPoints: [join(here, "src/cli/mcp.ts")],
      outfile: join(fresh, "bridge.cjs"),
      format: "cjs",
      minify: true,
      define: { "import.meta.url": "bundleUrl" },
      banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    });
    cpSync(join(root, "agent-client/agents"), join(fresh, "agents"), { recursive: true });
    cpSync(join(root, "controllers/addons"), join(fresh, "addons"), { recursive: true, filter: isOfAddon });
    for (const name of schemas) cpSync(join(here, "docs", name), join(fresh, "schemas", name));
    await generate(build, fresh, { hash, at: new Date().toISOString() });
    moveInto(dist, fresh);
    writeFileSync(stampFile, hash);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** The folder's own README is for developers, and what somebody installed there to look at is not shipped. */
function isOfAddon(path) {
  return basename(path) !== "node_modules" && path !== join(root, "controllers/addons/README.md");
}

/** Lets the bridge answer a host once and keeps its compiled code; see bin/loadBridge.js. */
async function cacheBridge(fresh) {
  const dataDir = mkdtempSync(join(tmpdir(), "labwright-build-"));
  const child = spawn(process.execPath, [join(here, "bin", "cacheBridge.js"), fresh, dataDir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "build", version: "1" },
  };
  const ask = (id, method, params) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  ask(1, "initialize", params);
  ask(2, "resources/templates/list", {});
  let said = "";
  child.stdout.on("data", (part) => {
    said += part;
    if (said.split("\n").length > 2) child.stdin.end();
  });
  const [code] = await ended;
  rmSync(dataDir, { recursive: true, force: true });
  if (code !== 0 || !existsSync(join(fresh, "bridge.cache")))
    throw new Error(`the bridge ended with ${code}`);
}

/** What must be made by running this build's own code. */
async function generate(build, fresh, made) {
  const generator = join(fresh, ".generate.mjs");
  await build({
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
    ...bundling,
    // It runs here, where PGlite lies with its files.
    external: [...bundling.external, "@electric-sql/pglite"],
  });
  const { tools, buildCatalogue, latestSkills, loadSkills, skillMarkdown, makeTemplate } = await import(
    pathToFileURL(generator).href
  );
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { skills, problems } = loadSkills(join(root, "skills"), new Set(tools.map(({ name }) => name)));
  for (const { file, line, message } of problems)
    process.stderr.write(`${relative(root, file)}:${line}: ${message}\n`);
  const catalogue = buildCatalogue({
    tools,
    skills: latestSkills(skills).map((skill) => ({ ...skill, markdown: skillMarkdown(skill) })),
    version,
    build: made,
  });
  writeFileSync(join(fresh, "catalogue.json"), JSON.stringify(catalogue));
  writeFileSync(join(fresh, "skills.json"), JSON.stringify(latestSkills(skills)));
  rmSync(generator);
  await cacheBridge(fresh);
  // The template belongs to its schema and to the version of PGlite that made it, and takes seconds.
  const templateStamp = hashOf([join(pglite, "package.json"), ...filesIn(join(here, "migrations"))]);
  const stampOf = (folder) => join(folder, ".template-stamp");
  const isSame = existsSync(stampOf(dist)) && readFileSync(stampOf(dist), "utf8") === templateStamp;
  if (isSame && existsSync(join(dist, "template.tgz"))) return;
  await makeTemplate(join(fresh, "template.tgz"));
  writeFileSync(stampOf(fresh), templateStamp);
}

/** File by file, entries last: a process that starts meanwhile finds one build or the other. */
function moveInto(target, fresh) {
  const files = filesIn(fresh).map((file) => relative(fresh, file));
  const isEntry = (file) => !file.startsWith("chunks");
  for (const file of [...files.filter((f) => !isEntry(f)), ...files.filter(isEntry)]) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    renameSync(join(fresh, file), join(target, file));
  }
  const chunks = join(target, "chunks");
  const current = new Set(files);
  // An agent or add-on that is no more would still be read: all that lie there are.
  for (const folder of ["agents", "addons"].map((name) => join(target, name)).filter(existsSync)) {
    for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile() && !current.has(relative(target, file))) rmSync(file);
    }
  }
  for (const name of readdirSync(chunks)) {
    const file = join(chunks, name);
    const isOld = Date.now() - statSync(file).mtimeMs > keepOldMs;
    if (isOld && !current.has(join("chunks", name))) rmSync(file, { force: true });
  }
}
