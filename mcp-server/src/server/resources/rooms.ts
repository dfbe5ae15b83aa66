import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "@labwright/controllers";
import type { Resource } from "@modelcontextprotocol/server";
import { ToolError } from "../../errors.ts";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import { aliases } from "../../registry/seedNames.ts";
import { viewNames } from "../../registry/tool.ts";
import type { ArtifactStore, EventFeed, Services } from "../../services/index.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { renderResult } from "../call/render.ts";
import type { Completion } from "../mcp/backend.ts";
import { describeSchema, describeSkill, mimeType } from "../mcp/catalogueResources.ts";
import { viewMimeType } from "../mcp/views.ts";

type Content = { mimeType: string } & ({ text: string } | { bytes: Uint8Array });

/**
 * Serves the addresses of one scheme. `path` is what follows `scheme://`, split at slashes and decoded. Throws a
 * ToolError with the nearest names for an address that does not exist.
 */
export type ResourceRoom = {
  scheme: string;
  /** Those to offer by name. */
  list?(): Promise<Resource[]>;
  read(path: readonly string[]): Promise<Content>;
  /** Every value that a variable of the scheme's templates may have; the caller keeps those that begin as typed. */
  complete?(asked: Completion): Promise<readonly string[]>;
  /** See `Backend.watch`. */
  watch?(path: readonly string[], changed: () => void): Promise<() => void>;
};

/** `artifact://<sha256>`: a file that a tool made, as text where its type is one. */
export function artifactRoom(artifacts: ArtifactStore): ResourceRoom {
  return {
    scheme: "artifact",
    async read([sha256 = "", ...rest]) {
      if (rest.length > 0 || !/^[\da-f]{64}$/.test(sha256))
        throw new ToolError(
          "ARTIFACT_NOT_FOUND",
          "An artifact is named by 64 hexadecimal digits.",
          "Use the uri that a tool or report gave.",
        );
      const { bytes, mimeType } = await artifacts.get(sha256);
      const isText = /^text\/|[/+](json|xml|yaml)$/.test(mimeType);
      return isText ? { mimeType, text: Buffer.from(bytes).toString("utf8") } : { mimeType, bytes };
    },
    complete: ({ typed }) => artifacts.startingWith(typed.toLowerCase()),
  };
}

/** `reference://<sha256>`: the picture of a reference, as PNG. */
export function referenceRoom({ references }: Pick<Services, "references">): ResourceRoom {
  return {
    scheme: "reference",
    async read([sha256 = "", ...rest]) {
      if (rest.length === 0) return { mimeType: "image/png", bytes: await references.picture(sha256) };
      throw new ToolError(
        "REFERENCE_NOT_FOUND",
        "A reference's picture is named by 64 hexadecimal digits.",
        "Use the uri that list_references gives.",
      );
    },
  };
}

/** A map is read whole by a person or a model; a larger one says how much is left. */
const mapTokens = 8_000;
const allNames = 50_000;

/** `tree://<userinterface>` is the app's map in lines, `tree://<userinterface>/<node>` one node as JSON. */
export function treeRoom({
  userinterfaces,
  navigation,
}: Pick<Services, "userinterfaces" | "navigation">): ResourceRoom {
  return {
    scheme: "tree",
    async read([app = "", node, ...rest]) {
      if (app === "" || rest.length > 0)
        throw new ToolError(
          "INVALID_INPUT",
          "A tree is tree://<userinterface>, a node of it tree://<userinterface>/<node>.",
          "Encode a slash within a name as %2F.",
        );
      if (node === undefined) {
        const { map, more } = await navigation.preview(app, mapTokens);
        const left = more > 0 ? `\n(${more} more nodes: list_navigation_nodes)` : "";
        return { mimeType: "text/plain", text: map + left };
      }
      const view = await userinterfaces.getNode(app, node);
      return { mimeType: "application/json", text: JSON.stringify(view, null, 2) };
    },
    async complete({ variable, given }) {
      if (variable === "userinterface")
        return (await userinterfaces.list(allNames)).userinterfaces.map(({ name }) => name);
      const app = given.userinterface;
      if (app === undefined) return [];
      return (await userinterfaces.describe(app)).nodes.map(({ label }) => label);
    },
  };
}

const latestReports = 10;

/** `report://<execution_id>`: how a run ended and its steps, as text. */
export function reportRoom({ results, reports }: Pick<Services, "results" | "reports">): ResourceRoom {
  return {
    scheme: "report",
    async list() {
      const runs = await results.latest(latestReports);
      return runs.map(({ execution_id, name, status, device, started_at }) => ({
        uri: `report://${execution_id}`,
        name: `${name}: ${status}`,
        title: `${name}: ${status}`,
        description: [status, started_at, ...(device === undefined ? [] : [`on ${device}`])].join(", "),
        mimeType: "text/plain",
        annotations: { lastModified: started_at },
      }));
    },
    async read([id = ""]) {
      const status = await reports.status(
        id,
        { waitMs: 0, maxTokens: mapTokens },
        {
          ...{ principal: "local", client: "resources", signal: new AbortController().signal, trace_id: id },
          ...{ deadline: Number.MAX_SAFE_INTEGER, progress: () => {}, capabilities: { elicitation: false } },
        },
      );
      const { log: _, ...shown } = status;
      return { mimeType: "text/plain", text: renderResult(shown) };
    },
  };
}

/** `ui://labwright/<view>`: a page that a host shows a tool's results in, as the build made it. */
export function viewRoom(folder = join(packageFolder(), "dist", "views")): ResourceRoom {
  return {
    scheme: "ui",
    async read([, view = ""]) {
      const name = viewNames.find((known) => known === view);
      const text = name && (await readFile(join(folder, `${name}.html`), "utf8").catch(() => undefined));
      if (text !== undefined) return { mimeType: viewMimeType, text };
      throw new ToolError(
        "INVALID_INPUT",
        `This build has no view "${view}".`,
        "Read the address that the tool's _meta.ui.resourceUri gives.",
      );
    },
  };
}

const pageSize = 100;

/** `events://<after>`: events with a higher id, in order, and the `next` address to go on with. */
export function eventRoom(events: EventFeed): ResourceRoom {
  return {
    scheme: "events",
    async read(path) {
      const after = cursorOf(path);
      const page = await events.read({ after, limit: pageSize });
      const next = `events://${page.at(-1)?.id ?? after}`;
      return { mimeType: "application/json", text: JSON.stringify({ events: page, next }) };
    },
    async watch(path, changed) {
      const after = cursorOf(path);
      const notify = onceATurn(changed);
      // Listening first: an event stored between the two is then sent twice rather than never.
      const stop = await events.subscribe(notify);
      if ((await events.latestId()) > after) notify();
      return stop;
    },
  };
}

/** A burst of events is one piece of news. */
function onceATurn(notify: () => void): () => void {
  let isComing = false;
  return () => {
    if (isComing) return;
    isComing = true;
    setImmediate(() => {
      isComing = false;
      notify();
    });
  };
}

function cursorOf([after = "", ...rest]: readonly string[]): number {
  const id = /^\d{1,15}$/.test(after) && rest.length === 0 ? Number(after) : undefined;
  if (id !== undefined) return id;
  throw new ToolError(
    "INVALID_INPUT",
    "Events are read from the id of the last one you have: events://<after>.",
    "Begin with events://0, then follow `next`.",
  );
}

/**
 * `tool://`, `schema://` and `skill://` beyond what a listing has: the user's own skills, and the nearest names for what
 * is not there.
 */
export function namedRooms(
  catalogue: Catalogue,
  userSkills: () => readonly CatalogueSkill[],
): ResourceRoom[] {
  return [
    namedRoom(
      "tool",
      () => catalogue.tools,
      (tool) => tool,
    ),
    namedRoom(
      "schema",
      () => catalogue.tools,
      (tool) => describeSchema(catalogue, tool),
    ),
    namedRoom("skill", () => [...catalogue.skills, ...userSkills()], describeSkill),
  ];
}

function namedRoom<Item extends { name: string }>(
  scheme: string,
  items: () => readonly Item[],
  describe: (item: Item) => unknown,
): ResourceRoom {
  return {
    scheme,
    async read(path) {
      const asked = path.join("/");
      const name = (scheme === "tool" && aliases[asked]) || asked;
      const item = items().find((one) => one.name === name);
      if (item) return { mimeType, text: JSON.stringify(describe(item), null, 2) };
      const near = nearest(
        name,
        items().map((one) => one.name),
      ).map((one) => `${scheme}://${one}`);
      throw new ToolError(
        "INVALID_INPUT",
        `There is no ${scheme}://${name}.`,
        near.length > 0 ? `Nearest: ${near.join(", ")}.` : "The template's completion has all names.",
        { nearest: near },
      );
    },
    complete: async () => items().map(({ name }) => name),
  };
}
