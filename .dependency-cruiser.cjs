/**
 * Who may import whom. What a folder may import besides itself stands in the head of its README:
 *
 *     May import: `../errors.ts`, `../waiting/`, `controllers`, `sharp`.
 *
 * An entry with a slash is a file or folder seen from the README; a workspace's name is its `src/index.ts`; anything else is an
 * npm package. A package that one README names is closed to every folder whose README does not name it. A folder without such a
 * line has no wall of its own, and a folder within a folder obeys both lines.
 */
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { dirname, join, normalize } = require("node:path");

const workspaces = ["controllers", "skills", "mcp-server", "agent-client", "test"];
const ours = `^(${workspaces.join("|")})/(?!node_modules/)`;
const escaped = (path) => path.replaceAll(/[.+*?^$()[\]{}|\\]/g, "\\$&");

/** Reads every "May import" line: the folder, the paths it may import and the packages. */
function readWalls(root) {
  return workspaces
    .flatMap((workspace) => readmes(root, workspace))
    .flatMap((file) => {
      const line = /^May import: (.+?)\.\n(?:\n|$)/ms.exec(readFileSync(join(root, file), "utf8"));
      if (!line) return [];
      const folder = `${dirname(file)}/`;
      const entries = [...line[1].matchAll(/`([^`]+)`/g)].map(([, entry]) => entry);
      if (entries.length === 0 && line[1] !== "nothing")
        throw new Error(`${file}: "May import" names nothing`);
      const paths = entries.flatMap((entry) => {
        if (workspaces.includes(entry)) return [`${entry}/src/index.ts`];
        return entry.startsWith("../") ? [normalize(join(folder, entry))] : [];
      });
      const missing = paths.find((path) => !existsSync(join(root, path)));
      if (missing) throw new Error(`${file}: "May import" names ${missing}, which does not exist`);
      const packages = entries.filter((entry) => !entry.startsWith("../") && !workspaces.includes(entry));
      return [{ folder, paths, packages }];
    });
}

function readmes(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return /^(node_modules|dist|out|\..*)$/.test(entry.name) ? [] : readmes(root, path);
    return entry.name === "README.md" ? [path] : [];
  });
}

const walls = readWalls(process.cwd());
const rooms = walls.map(({ folder, paths }) => ({
  name: `room ${folder}`,
  severity: "error",
  from: { path: `^${escaped(folder)}` },
  to: {
    path: ours,
    pathNot: [folder, ...paths].map((path) => `^${escaped(path)}${path.endsWith("/") ? "" : "$"}`),
  },
}));
const packages = [...new Set(walls.flatMap((wall) => wall.packages))].map((name) => ({
  name: `package ${name}`,
  severity: "error",
  from: {
    path: ours,
    pathNot: [
      "^test/",
      ...walls.filter((wall) => wall.packages.includes(name)).map(({ folder }) => `^${escaped(folder)}`),
    ],
  },
  to: { path: `node_modules/${escaped(name)}/` },
}));

module.exports = {
  forbidden: [
    {
      name: "no cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { pathNot: "node_modules" } },
    },
    {
      name: "only declared packages",
      severity: "error",
      // An add-on has packages of its own, which are not installed here.
      from: { pathNot: "^controllers/addons/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "unknown", "undetermined"], pathNot: ours },
    },
    {
      name: "tests import doors or #aliases",
      severity: "error",
      from: { path: "^test/" },
      to: { path: `${ours}(src|lab)/`, pathNot: "^test/", dependencyTypesNot: ["aliased", "undetermined"] },
    },
    { name: "nothing imports tests", severity: "error", from: { pathNot: "^test/" }, to: { path: "^test/" } },
    {
      name: "nothing loose",
      severity: "error",
      from: {
        path: [
          "^mcp-server/src/services/(?!(create|createApps|index|ports)\\.ts$)[^/]+\\.ts$",
          "^controllers/src/(?!(contract|diagnosis|dispatch|errors|factory|fence|index|models|portable|ports|shapes|spaces)\\.ts$)[^/]+\\.ts$",
        ],
      },
      to: {},
    },
    ...rooms,
    ...packages,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: join(__dirname, "tsconfig.tests.json") },
    doNotFollow: { path: "node_modules" },
    exclude: "^[^/.]+/(dist|out)/",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".cjs"],
    },
  },
};
