// The packages of others in what people install: bundled, or installed next to it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const workspaces = ["mcp-server", "controllers", "agent-client", "skills"];
const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The packages that the bundles leave outside: sharp's libraries lie next to its code, and Playwright starts programs of its own. */
export const external = Object.keys(dependencies);

/**
 * Every package that runs, by the lockfile: those that the four workspaces depend on, and what these depend on, optional
 * ones included. `path` is its place in the lockfile. By name.
 */
export function runtimePackages(root) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const found = new Map();
  const visit = (from, { dependencies = {}, optionalDependencies = {} }) => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const path = placeOf(packages, from, name);
      const own = packages[path];
      if (path === undefined || found.has(path) || own.link) continue;
      const { version, license = "", engines = {}, optional = false } = own;
      found.set(path, { path, name, version, license, node: engines.node, optional });
      visit(path, own);
    }
  };
  for (const workspace of workspaces) visit(workspace, packages[workspace]);
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Where Node finds a package from another one's folder: the nearest node_modules above. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.replace(/(^|\/)(node_modules\/)?(@[^/]+\/)?[^/]+$/, "")) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in packages) return path;
    if (folder === "") return undefined;
  }
}

/** The licence texts of the packages that the inputs of a bundle belong to. Inputs are paths from `root`. */
export function bundledLicences(root, inputs) {
  const paths = new Set(
    inputs.flatMap((file) => /^([^:]*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  const texts = [...paths].sort().map((path) => {
    const folder = join(root, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    const said = files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
    return `${name} ${version} (${license})\n\n${said}`;
  });
  return `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
