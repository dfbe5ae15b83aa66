/** Who may import whom. A room sees only the rooms named beside it; everything else is an error. */
const S = "mcp-server/src/";
const workspaces = "^(mcp-server|agent-client|skills|controllers|test)/(?!node_modules/)";
const door = "controllers/(src|lab)/index\\.ts";

const room = (from, ...may) => ({
  name: `room ${from.replaceAll("\\", "")}`,
  severity: "error",
  from: { path: `^${from}` },
  to: { path: workspaces, pathNot: [`^${from}`, ...may.map((path) => `^${path}`)] },
});

const packages = (name, ...where) => ({
  name: `only there ${name}`,
  severity: "error",
  from: { path: workspaces, pathNot: [...where.map((path) => `^${path}`), "^test/"] },
  to: { path: `node_modules/${name}/` },
});

const C = "controllers/src/";
/** The laboratory's Android: its folders meet at its seams only. */
const A = "test/lab/android/";
/** What every room of the controllers sees. */
const contract = `${C}(contract|diagnosis|errors|factory|fence|ports|shapes|spaces)\\.ts`;
/** Rooms for several drivers, the lowest first: each sees those before it, and every driver sees all of them. */
const sharedRooms = [
  "waiting",
  "programs",
  "elements",
  "focus",
  "video",
  "frames",
  "addons",
  "logs",
  "screens",
  "webviews",
];
const sharedPath = (name) => `${C}${name}/`;

/** The rooms of the driver of browsers, and what each sees besides what every driver sees. */
const webRooms = {
  "page/agent/": [],
  "page/": [],
  "browser/": ["page/"],
  "acting/": ["page/", "browser/"],
  "checks/": ["page/", "browser/", "acting/"],
  "commands/": ["page/", "browser/", "acting/", "checks/"],
  "ports/": ["page/", "browser/", "acting/"],
};

/** The wings of the services, the lowest first: each sees those before it. */
const wings = ["values", "policy", "records", "devices", "apps", "runs", "lab"];
const belowServices = `${S}(errors\\.ts|fileFailure\\.ts|domain/|storage/|config|observability/)`;
const wingPath = (wing) => `${S}services/${wing}/`;
const wingMay = (lower) => [
  ...lower.map(wingPath),
  `${S}services/ports\\.ts`,
  belowServices,
  door,
  "skills/src/index\\.ts",
];

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
      to: {
        dependencyTypes: ["npm-no-pkg", "npm-unknown", "unknown", "undetermined"],
        pathNot: workspaces,
      },
    },
    { name: "nothing imports tests", severity: "error", from: { pathNot: "^test/" }, to: { path: "^test/" } },
    room(C),
    {
      name: "nothing loose in the hall of the controllers",
      severity: "error",
      from: {
        path: `^${C}[^/]+\\.ts$`,
        pathNot: [`^${contract}$`, `^${C}(index|models|portable)\\.ts$`],
      },
      to: {},
    },
    room(contract),
    room(`${C}models\\.ts`, contract),
    room(`${C}portable\\.ts`, contract, sharedPath("elements")),
    ...sharedRooms.map((name, index) =>
      room(
        sharedPath(name),
        contract,
        ...sharedRooms.slice(0, index).map(sharedPath),
        // It offers what the portable set names.
        ...(name === "screens" ? [`${C}portable\\.ts`] : []),
      ),
    ),
    {
      name: "room of each driver",
      severity: "error",
      from: { path: `^${C}([^/]+)/`, pathNot: sharedRooms.map((name) => `^${sharedPath(name)}`) },
      to: {
        path: `^${C}`,
        pathNot: [
          `^${C}$1/`,
          `^${contract}`,
          `^${C}portable\\.ts`,
          ...sharedRooms.map((name) => `^${sharedPath(name)}`),
        ],
      },
    },
    ...Object.entries(webRooms).map(([name, may]) =>
      room(
        `${C}web/${name}`,
        contract,
        `${C}portable\\.ts`,
        ...sharedRooms.map(sharedPath),
        ...may.map((seen) => `${C}web/${seen}`),
      ),
    ),
    room("controllers/lab/", `${C}index\\.ts`, ...sharedRooms.map(sharedPath)),
    room("test/lab/", `${C}index\\.ts`, sharedPath("programs"), sharedPath("waiting")),
    room(`${A}adbd/`, `${A}(labShell|faults)\\.ts`),
    room(`${A}userland/`, `${A}(labShell|labUi|faults)\\.ts`, `${A}personas/`, `${C}index\\.ts`),
    room(`${A}personas/`),
    room(`${A}ui/`, `${A}labUi\\.ts`, `${C}index\\.ts`),
    room(`${A}webview/`, `${A}(labUi|faults)\\.ts`, `${C}index\\.ts`, sharedPath("programs")),
    room(`${A}uia2/`, `${A}labUi\\.ts`, `${C}index\\.ts`),
    room(
      "test/lab/ios/",
      `${A}labUi\\.ts`,
      `${A}ui/`,
      `${A}uia2/(actions|gestures|tree|xpath)\\.ts`,
      `${C}index\\.ts`,
    ),
    room("skills/src/"),
    room("agent-client/src/", "skills/src/index\\.ts"),
    room(`${S}domain/`, door),
    room(`${S}errors\\.ts`, door),
    room(`${S}observability/`, `${S}errors\\.ts`),
    room(`${S}config`, `${S}(errors\\.ts|fileFailure\\.ts|domain/)`, door, "agent-client/src/settings\\.ts"),
    room(`${S}storage/schema/`, door, `${S}domain/`),
    room(`${S}storage/engine/`, `${S}(errors\\.ts|domain/|observability/span\\.ts|storage/schema/)`, door),
    room(
      `${S}storage/rows/`,
      `${S}(errors\\.ts|domain/|observability/span\\.ts|storage/(schema/|engine/database\\.ts))`,
      door,
    ),
    room(`${S}storage/`, `${S}(errors\\.ts|domain/|observability/span\\.ts)`, door),
    {
      name: "nothing loose in the hall",
      severity: "error",
      from: { path: `^${S}services/(?!(create|index|ports)\\.ts$)[^/]+\\.ts$` },
      to: {},
    },
    room(`${S}services/ports(\\.ts|/)`, belowServices, door),
    room(`${S}services/(create|index)\\.ts`, belowServices, `${S}services/`, door, "skills/src/index\\.ts"),
    {
      name: "files of apps stand above the rest",
      severity: "error",
      from: { path: `^${S}services/`, pathNot: `^${S}services/(apps/files/|(create|index)\\.ts$)` },
      to: { path: `^${S}services/apps/files/` },
    },
    ...wings.map((wing, index) => room(wingPath(wing), ...wingMay(wings.slice(0, index)))),
    room(`${S}registry/`, `${S}(errors\\.ts|domain/|services/(index|ports)\\.ts)`, door),
    room(`${S}tools/`, `${S}(errors\\.ts|domain/|registry/|services/(index|ports)\\.ts)`, door),
    room(
      `${S}server/`,
      `${S}(errors\\.ts|fileFailure\\.ts|domain/|registry/|observability/|config|services/(index|ports)\\.ts|storage/engine/(lock|failure)\\.ts)`,
      door,
    ),
    room(
      `${S}api/`,
      `${S}(errors\\.ts|domain/|registry/|observability/|services/(index|ports)\\.ts|server/(call/callTool|http/clientHeaders)\\.ts)`,
      door,
    ),
    room(
      `${S}agents/`,
      `${S}(errors\\.ts|domain/|config/|storage/index\\.ts|services/(index|ports)\\.ts)`,
      `${S}(api/errors|server/http/(traceId|nodeBindings))\\.ts`,
      "agent-client/src/index\\.ts",
    ),
    packages("@modelcontextprotocol", `${S}server/`, `${S}cli/`, "agent-client/src/mcp/"),
    packages("playwright-core", `${C}web/`, `${S}cli/`),
    packages("@devicefarmer", `${C}android/(adb/|link\\.ts)`),
    packages(
      "sharp",
      `${C}(video|frames)/`,
      `${C}(android|appium)/screen\\.ts`,
      "controllers/lab/",
      `${S}services/devices/(screen/pictures|references/crops)\\.ts`,
      `${S}services/runs/reports/shrink\\.ts`,
    ),
    packages("(pg|drizzle-orm|@electric-sql)", `${S}storage/`),
    packages("(hono|@hono)", `${S}server/`, `${S}api/`, `${S}agents/`, `${S}cli/`),
    packages("(socket\\.io|jose)", `${S}agents/`),
    packages("@anthropic-ai", "agent-client/src/(loop|model|ports\\.ts)"),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: "^[^/.]+/(dist|out)/",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".cjs"],
    },
  },
};
