// npm run mcpb [-- FOLDER]: packs the build and what it needs at run time as one file that Claude Desktop installs. It is for
// the platform it is made on, whose native libraries it holds. The manifest says what package.json and the catalogue say.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { external } from "./packages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const modules = join(root, "node_modules");
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
const mcpb = (...args) =>
  execFileSync(process.execPath, [join(modules, "@anthropic-ai/mcpb/dist/cli/cli.js"), ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });

/** What the host asks its user for, and gives to the bridge as environment. */
const settings = [
  {
    name: "LABWRIGHT_DATA_DIR",
    description: "Folder of everything kept between runs; the platform's data folder by default",
  },
  {
    name: "LABWRIGHT_CONFIG",
    description: "labwright.yaml with devices, secrets and limits; by default the one in the data directory",
  },
  {
    name: "LABWRIGHT_LOG_LEVEL",
    description: "How much the daemon writes into its log: trace, debug, info, warn, error or silent",
    default: "info",
  },
];

/** What runs, of this folder and of a package. */
const ours = ["bin/labwright.js", "demo", "dist", "migrations", "scripts", "package.json"];
const isRun = (file) => !/\.(map|md|d\.[cm]?ts)$/.test(file);

execFileSync(process.execPath, [join(here, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
const folder = resolve(process.argv[2] ?? join(here, "out"));
const stage = mkdtempSync(join(tmpdir(), "labwright-mcpb-"));
try {
  for (const path of ours) copy(join(here, path), join(stage, path));
  copy(join(root, "LICENSE"), join(stage, "LICENSE"));
  for (const path of packagesBelow(external))
    copy(join(modules, path), join(stage, "node_modules", path), isRun);
  copy(join(here, "icon.png"), join(stage, "icon.png"));
  writeFileSync(join(stage, "manifest.json"), JSON.stringify(manifest(), null, 2));
  mcpb("validate", join(stage, "manifest.json"));
  mkdirSync(folder, { recursive: true });
  const { version } = readJson(join(root, "package.json"));
  const file = join(folder, `labwright-${version}-${process.platform}-${process.arch}.mcpb`);
  mcpb("pack", stage, file);
  const megabytes = (statSync(file).size / 1_048_576).toFixed(1);
  process.stdout.write(`${relative(process.cwd(), file)}: ${megabytes} MB\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function copy(from, to, filter = () => true) {
  if (existsSync(from)) cpSync(from, to, { recursive: true, dereference: true, filter });
}

/** The packages and all that they depend on, as npm has installed them for this platform. */
function packagesBelow(names, found = new Set()) {
  for (const name of names) {
    const file = join(modules, name, "package.json");
    if (found.has(name) || !existsSync(file)) continue;
    found.add(name);
    const { dependencies = {}, optionalDependencies = {} } = readJson(file);
    packagesBelow([...Object.keys(dependencies), ...Object.keys(optionalDependencies)], found);
  }
  return found;
}

function manifest() {
  const { version, license, engines, description } = readJson(join(root, "package.json"));
  const { tools } = readJson(join(here, "dist/catalogue.json"));
  const keyOf = (name) => name.replace("LABWRIGHT_", "").toLowerCase();
  return {
    manifest_version: "0.3",
    name: "labwright",
    display_name: "Labwright",
    version,
    description,
    author: { name: "Labwright" },
    license,
    icon: "icon.png",
    server: {
      type: "node",
      entry_point: "bin/labwright.js",
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/bin/labwright.js`, "mcp"],
        env: Object.fromEntries(settings.map(({ name }) => [name, `\${user_config.${keyOf(name)}}`])),
      },
    },
    tools: tools.map(({ name, description: text }) => ({ name, description: text })),
    prompts_generated: true,
    compatibility: { platforms: [process.platform], runtimes: { node: engines.node } },
    user_config: Object.fromEntries(
      settings.map(({ name, description: text, default: value = "" }) => {
        const key = keyOf(name);
        return [key, { type: "string", title: key.replaceAll("_", " "), description: text, default: value }];
      }),
    ),
  };
}
