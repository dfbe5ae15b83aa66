// The set-up of `npm run demo` and `npm test`: packages, build, browser and, for tests, PostgreSQL's programs and all add-ons.
// In an installed package, whose packages and build are there, only the browser. Runs before anything is installed, so it
// imports nothing but Node. Safe to run at any time; quick when all is there.
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const project = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
/** False in a package that npm has installed. */
const isCheckout = existsSync(join(project, "mcp-server/build.mjs"));
/** Where packages are looked for; also before they are there. */
const packages = createRequire(import.meta.url);
const oldestNode = [20, 19];
const isCi = process.env.CI === "true" || process.env.CI === "1";
const minute = 60_000;

/** A failure that a person can mend: the message says how. */
class SetupError extends Error {}

const say = (text) => process.stdout.write(`[setup] ${text}\n`);

function readOptions(args) {
  const value = (name) => {
    const index = args.indexOf(name);
    return index === -1 ? undefined : args[index + 1];
  };
  const purpose = value("--for") ?? "demo";
  if (purpose !== "demo" && purpose !== "test") {
    throw new SetupError(`--for ${purpose} is not known. Run: node mcp-server/bin/setup.mjs --for demo|test`);
  }
  if (purpose === "test" && !isCheckout) {
    throw new SetupError(
      "The tests are in a checkout of Labwright, not in the package. Run: labwright setup",
    );
  }
  const parts = value("--with")?.split(",").filter(Boolean) ?? [];
  // The tests use --root in place of /, below which apt's packages are searched.
  return { purpose, parts, root: value("--root") ?? "/" };
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new SetupError(
    `Node ${oldestNode.join(".")} or newer is needed; this is ${process.versions.node}. Install it from https://nodejs.org and run the command again.`,
  );
}

/** Runs a program to its end with its output shown, and says every 10 s that it still runs. */
function run(command, args, { timeoutMs, env = process.env }) {
  const line = [command, ...args].join(" ");
  say(`running: ${line}`);
  return new Promise((done, fail) => {
    const started = Date.now();
    const seconds = () => Math.round((Date.now() - started) / 1000);
    const child = spawn(command, args, {
      cwd: project,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32" && command.endsWith(".cmd"),
    });
    const progress = setInterval(() => say(`still running after ${seconds()} s`), 10_000);
    const limit = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const finish = (problem) => {
      clearInterval(progress);
      clearTimeout(limit);
      if (problem === undefined) done();
      else fail(new SetupError(`${line}: ${problem}`));
    };
    child.once("error", (error) => finish(error.message));
    child.once("exit", (code, signal) => {
      if (code === 0) finish();
      else finish(signal === null ? `ended with ${code}` : `ended by ${signal} after ${seconds()} s`);
    });
  });
}

const tryRun = async (command, args, options) => {
  try {
    await run(command, args, options);
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
};

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findProgram(name) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).find(isExecutable);
}

/** True when what npm says it installed (`node_modules/.package-lock.json`) is what the lockfile asks for. */
function packagesAreInStep() {
  try {
    const read = (file) => JSON.parse(readFileSync(join(project, file), "utf8")).packages;
    const wanted = Object.entries(read("package-lock.json")).filter(([path]) =>
      path.includes("node_modules/"),
    );
    const installed = read("node_modules/.package-lock.json");
    return wanted.every(([path, { version, integrity, optional }]) => {
      const found = installed[path];
      // Packages for other platforms are optional and not installed.
      if (found === undefined) return optional === true;
      return found.version === version && found.integrity === integrity;
    });
  } catch {
    return false;
  }
}

async function setUpPackages() {
  if (packagesAreInStep()) return say("packages: in step with package-lock.json");
  say("packages: installing from package-lock.json");
  const npm = process.env.npm_execpath?.endsWith(".js")
    ? [process.execPath, process.env.npm_execpath]
    : [process.platform === "win32" ? "npm.cmd" : "npm"];
  const [command, ...first] = npm;
  await run(command, [...first, "ci", "--no-audit", "--no-fund"], { timeoutMs: 15 * minute });
}

const setUpBuild = () => run(process.execPath, ["mcp-server/build.mjs"], { timeoutMs: 5 * minute });

const browserNames = [
  "google-chrome",
  "google-chrome-stable",
  "chromium",
  "chromium-browser",
  "microsoft-edge",
  "microsoft-edge-stable",
];

const browserFiles = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  ],
  win32: [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA]
    .filter(Boolean)
    .flatMap((folder) => [
      join(folder, "Google\\Chrome\\Application\\chrome.exe"),
      join(folder, "Microsoft\\Edge\\Application\\msedge.exe"),
    ]),
};

/** Ubuntu's `chromium-browser` may be a script that only says how to install it: so ask it. On Windows asking opens it. */
function works(file) {
  if (process.platform === "win32") return true;
  const { status, stdout } = spawnSync(file, ["--version"], { encoding: "utf8", timeout: 30_000 });
  return status === 0 && /chrom|edge/i.test(stdout);
}

function findBrowser() {
  const onPath = browserNames.map(findProgram).filter((file) => file !== undefined);
  const usual = (browserFiles[process.platform] ?? []).filter((file) => existsSync(file));
  const found = [...onPath, ...usual].find(works);
  if (found !== undefined) return found;
  const own = playwrightBrowser();
  return own !== undefined && existsSync(own) && works(own) ? own : undefined;
}

function playwrightBrowser() {
  try {
    return packages("playwright-core").chromium.executablePath();
  } catch {
    return undefined;
  }
}

const isRoot = () => process.getuid?.() === 0;
const canUseApt = () => isRoot() && findProgram("apt-get") !== undefined;

async function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const wait = ["-o", "DPkg::Lock::Timeout=120"];
  await run("apt-get", [...wait, "update"], { timeoutMs: 5 * minute, env });
  const install = [...wait, "install", "-y", "--no-install-recommends", ...packages];
  await run("apt-get", install, { timeoutMs: 15 * minute, env });
}

async function setUpBrowser() {
  const found = findBrowser();
  if (found !== undefined) return say(`browser: ${found}`);
  say("browser: none found (Chrome, Chromium, Edge or Playwright's own); installing Chromium");
  // Debian's package brings the libraries that Playwright's build needs and a bare machine has not.
  if (canUseApt()) await aptInstall(["chromium"]).catch((error) => say(error.message));
  const fromApt = findBrowser();
  if (fromApt !== undefined) return say(`browser: ${fromApt}`);
  const cli = join(dirname(packages.resolve("playwright-core/package.json")), "cli.js");
  const install = [cli, "install", ...(canUseApt() ? ["--with-deps"] : []), "chromium"];
  await tryRun(process.execPath, install, { timeoutMs: 15 * minute });
  const own = findBrowser();
  if (own !== undefined) return say(`browser: ${own}`);
  throw new SetupError(
    "There is no browser that works. Install Google Chrome, or run one of these, and then this command again:\n" +
      "  sudo apt-get update && sudo apt-get install -y chromium\n" +
      "  npx playwright-core install chromium && sudo npx playwright-core install-deps chromium",
  );
}

/** Debian keeps the server's programs off the PATH, one folder for each version. */
function findPostgres(root) {
  const versions = join(root, "usr/lib/postgresql");
  const folders = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, "bin"))
    : [];
  const found = folders.find((folder) => isExecutable(join(folder, "initdb")));
  const onPath = findProgram("initdb");
  return found ?? (onPath === undefined ? undefined : dirname(onPath));
}

/** Installs the server's programs without the cluster that Debian would make and start with them. */
async function installPostgres(root, packages) {
  const folder = join(root, "etc/postgresql-common/createcluster.d");
  const file = join(folder, "labwright.conf");
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, "create_main_cluster = false\n");
  try {
    await aptInstall(packages);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Programs that the tests start besides PostgreSQL, with the package that has it. */
const testPrograms = [
  ["flock", "util-linux"],
  ["setpriv", "util-linux"],
  ["bwrap", "bubblewrap"],
  ["adb", "adb"],
  ["chromedriver", "chromium-driver"],
  // What shows, hears, drives and speaks like a TV.
  ["ffmpeg", "ffmpeg"],
  ["kodi", "kodi"],
  ["Xvfb", "xvfb"],
  ["xdotool", "xdotool"],
  ["xev", "x11-utils"],
  ["irsend", "lirc"],
  ["cec-client", "cec-utils"],
  ["espeak-ng", "espeak-ng"],
  ["pocketsphinx_continuous", "pocketsphinx"],
  ["tesseract", "tesseract-ocr"],
];

/** Files that these programs need, with the package that has them. */
const testFiles = [
  ["usr/share/kodi/addons/pvr.iptvsimple/addon.xml", "kodi-pvr-iptvsimple"],
  ["usr/share/pocketsphinx/model/en-us/en-us", "pocketsphinx-en-us"],
  ["usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"],
];

/** The packages of the programs that are not there. */
function missingPackages(root) {
  const missing = [
    ...testPrograms.filter(([name]) => findProgram(name) === undefined),
    ...testFiles.filter(([path]) => !existsSync(join(root, path))),
  ];
  const postgres = findPostgres(root) === undefined ? ["postgresql"] : [];
  return [...postgres, ...new Set(missing.map(([, name]) => name))];
}

async function setUpTestPrograms(root) {
  if (process.platform !== "linux") return;
  const packages = missingPackages(root);
  if (packages.length > 0 && canUseApt()) {
    say(`test programs: installing ${packages.join(" and ")}`);
    const install = packages.includes("postgresql") ? installPostgres(root, packages) : aptInstall(packages);
    await install.catch((error) => say(error.message));
  }
  if (missingPackages(root).length === 0) {
    const others = [...new Set(testPrograms.map(([, name]) => name))].join(", ");
    return say(`test programs: PostgreSQL in ${findPostgres(root)}, ${others}`);
  }
  const problem = `The tests need ${packages.join(" and ")}. Run: sudo apt-get update && sudo apt-get install -y ${packages.join(" ")}`;
  if (isCi) throw new SetupError(problem);
  say(`${problem}\n[setup] Going on without: tests that need them will say so.`);
}

/** Tests in the shell of Chromium take half as long; Firefox has tests of its own. Debian has both and Ubuntu has not. */
const moreBrowsers = ["chromium-headless-shell", "firefox-esr"];

async function setUpMoreBrowsers() {
  if (!canUseApt()) return;
  const isKnown = (name) => spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0;
  const wanted = moreBrowsers.filter((name) => findProgram(name) === undefined && isKnown(name));
  if (wanted.length > 0) await aptInstall(wanted).catch((error) => say(error.message));
}

/** The parts of all add-ons there are. */
function allParts() {
  const folder = join(project, "controllers/addons");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).map((name) => join(folder, name, "package.json"));
  const packages = files.filter(existsSync).map((file) => JSON.parse(readFileSync(file, "utf8")));
  return [...new Set(packages.map(({ labwright }) => labwright.part))];
}

/** The add-ons that were asked for, in the user's data directory; for the tests all, in the project. */
async function setUpAddons(purpose, parts) {
  const setUp = (names, options = []) =>
    run(process.execPath, ["mcp-server/bin/labwright.js", "setup", ...names, ...options], {
      timeoutMs: 30 * minute,
    });
  if (parts.length > 0) await setUp(parts);
  const all = purpose === "test" ? allParts() : [];
  if (all.length > 0) await setUp(all, ["--data-dir", join(project, ".setup")]);
}

async function main() {
  const { purpose, parts, root } = readOptions(process.argv.slice(2));
  checkNode();
  if (isCheckout) {
    await setUpPackages();
    await setUpBuild();
  }
  await setUpBrowser();
  if (purpose === "test") {
    await setUpTestPrograms(root);
    await setUpMoreBrowsers();
  }
  await setUpAddons(purpose, parts);
  say("ready");
}

try {
  await main();
} catch (error) {
  process.stderr.write(`[setup] ${error instanceof SetupError ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
