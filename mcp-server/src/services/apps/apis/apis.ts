import { createHash, randomUUID } from "node:crypto";
import { nearest } from "@labwright/controllers";
import { type ApiOperation, type ApiSpec, labelSchema } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { ApiSpecRow, ApiSpecRows } from "../../../storage/index.ts";
import type { Clock, Secrets } from "../../ports.ts";
import { onlyNamed, projectInUse } from "../../records/inUse.ts";
import { pageOf } from "../../values/pages.ts";
import { type Changes, changesBetween } from "./changes.ts";
import { type DocumentPorts, readDocuments } from "./documents.ts";

export type ApiDependencies = DocumentPorts & { rows: ApiSpecRows; clock: Clock; secrets: Secrets };

type ImportRequest = {
  source: string;
  name?: string | undefined;
  allow_remote_refs: boolean;
  replace: boolean;
};

/** `changes` of an import in place of an earlier one. Lists are cut; `more` counts what is not shown. */
type Imported = {
  api: string;
  version: string;
  format: ApiSpec["format"];
  operations: number;
  servers: string[];
  replaced: boolean;
  changes?: Partial<Record<keyof Changes, string[]>> & { more?: number };
  warnings?: string[];
  more_warnings?: number;
};

type ListRequest = Partial<Record<"api" | "tag" | "search", string | undefined>> & { page: number };

const mostListed = 20;
const mostWarnings = 10;
const pageTokens = 1_500;

/** Imported descriptions of APIs, by name within their project. */
export class Apis {
  /** The one that was asked for last: a list is asked for page by page, and a document can have 10 MB. */
  private last: { id: string; at: string; spec: ApiSpec } | undefined;

  constructor(private readonly deps: ApiDependencies) {}

  /**
   * Stores what an OpenAPI document says, all or nothing. Throws ALREADY_EXISTS when another document has that name and
   * `replace` is false, INVALID_INPUT for a document that cannot be used, and what reading it throws.
   */
  async importSpec(request: ImportRequest, signal: AbortSignal): Promise<Imported> {
    const { source, name, allow_remote_refs: allowRemote } = request;
    const { rows, clock, secrets } = this.deps;
    const { spec, warnings, documents } = await readDocuments({ source, allowRemote }, signal, this.deps);
    const now = new Date(clock.now()).toISOString();
    const api = name ?? nameOf(spec.title, source);
    const row: ApiSpecRow = {
      ...{ id: randomUUID(), name: api, project: projectInUse(), source: secrets.mask(source) },
      ...{ version: spec.version, document_hash: hashOf(documents), spec },
      ...{ created_at: now, updated_at: now },
    };
    const before = await rows.put(row, request);
    if (before && !request.replace && before.document_hash !== row.document_hash)
      throw new ToolError(
        "ALREADY_EXISTS",
        `Another document is stored as "${api}". Nothing was changed.`,
        "Pass replace: true to replace it, or another name.",
      );
    return {
      ...{ api, version: spec.version, format: spec.format, operations: spec.operations.length },
      ...{ servers: spec.servers, replaced: before !== undefined },
      ...(before && { changes: shown(changesBetween(before.spec, spec)) }),
      ...(warnings.length > 0 && { warnings: warnings.slice(0, mostWarnings) }),
      ...(warnings.length > mostWarnings && { more_warnings: warnings.length - mostWarnings }),
    };
  }

  /** By name or id; the only one without a name. Throws API_NOT_FOUND with the nearest names. */
  async find(ref: string | undefined): Promise<ApiSpec> {
    const { rows } = this.deps;
    const heads = await (ref === undefined ? rows.list() : rows.named(ref));
    const head =
      ref === undefined && heads.length > 1 ? undefined : onlyNamed(heads, { ref: ref ?? "", what: "API" });
    if (!head) throw await this.notFound(ref);
    if (this.last?.id === head.id && this.last.at === head.updated_at) return this.last.spec;
    const row = await rows.load(head.id);
    if (!row) throw await this.notFound(ref);
    const spec = { ...row.spec, name: row.name };
    this.last = { id: row.id, at: row.updated_at, spec };
    return spec;
  }

  /** Throws OPERATION_NOT_FOUND with the nearest ids. `ref` may also be `GET /pets`. */
  async operation(api: string | undefined, ref: string): Promise<{ spec: ApiSpec; operation: ApiOperation }> {
    const spec = await this.find(api);
    const operation = spec.operations.find(
      ({ id, method, path }) => id === ref || `${method} ${path}` === ref,
    );
    if (operation) return { spec, operation };
    const candidates = nearest(
      ref,
      spec.operations.map(({ id }) => id),
    );
    throw new ToolError(
      "OPERATION_NOT_FOUND",
      `The API "${spec.name}" has no operation "${ref}".`,
      candidates.length > 0 ? `Did you mean ${candidates.join(", ")}?` : "list_api_operations lists them.",
      { candidates },
    );
  }

  /** One line an operation. `search` is found in id, path, summary or tags, whatever the case. Pages start at 1. */
  async list({ api, tag, search, page }: ListRequest) {
    const spec = await this.find(api);
    const wanted = search?.toLowerCase();
    const found = spec.operations.filter(
      ({ id, method, path, summary, tags }) =>
        (tag === undefined || tags.includes(tag)) &&
        (wanted === undefined ||
          [id, method, path, summary, ...tags].join("\n").toLowerCase().includes(wanted)),
    );
    const lines = found.map(lineOf);
    let offset = 0;
    for (let before = 1; before < page; before++) offset += pageOf(lines, offset, pageTokens).items.length;
    const { items: operations, more } = pageOf(lines, offset, pageTokens);
    return {
      api: spec.name,
      servers: spec.servers,
      total: found.length,
      operations,
      ...(more > 0 && { more }),
    };
  }

  private async notFound(ref: string | undefined): Promise<ToolError> {
    const names = (await this.deps.rows.list()).map(({ name }) => name);
    const candidates = ref === undefined ? names.slice(0, mostListed) : nearest(ref, names);
    const hint =
      candidates.length > 0 ? `Imported: ${candidates.join(", ")}.` : "Import one with import_api_spec.";
    const message =
      ref !== undefined
        ? `There is no API "${ref}".`
        : names.length > 0
          ? "Which API?"
          : "No API is imported yet.";
    return new ToolError("API_NOT_FOUND", message, hint, { candidates });
  }
}

const hashOf = (documents: Readonly<Record<string, string>>) =>
  Object.entries(documents)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .reduce((hash, [url, text]) => hash.update(url).update("\0").update(text), createHash("sha256"))
    .digest("hex");

/** The title of the document, else the name of its file. */
function nameOf(title: string, source: string): string {
  const file = /([^/\\]+?)(\.(json|ya?ml))?$/i.exec(source.replace(/[?#].*$/, ""))?.[1] ?? "api";
  return (
    [title.replaceAll(/\p{Cc}+/gu, " "), file].find((one) => labelSchema.safeParse(one).success)?.trim() ??
    "api"
  );
}

function shown(changes: Changes): NonNullable<Imported["changes"]> {
  const lists = Object.entries(changes).filter(([, list]) => list.length > 0);
  const more = lists.reduce((sum, [, list]) => sum + Math.max(0, list.length - mostListed), 0);
  return {
    ...Object.fromEntries(lists.map(([key, list]) => [key, list.slice(0, mostListed)])),
    ...(more > 0 && { more }),
  };
}

const lineOf = ({ id, method, path, summary, deprecated, security, body }: ApiOperation): string =>
  [
    `${id}: ${method} ${path}`,
    ...(summary === "" ? [] : [summary]),
    ...(body ? ["body"] : []),
    ...(security.length > 0 && security.every((way) => Object.keys(way).length > 0) ? ["auth"] : []),
    ...(deprecated ? ["deprecated"] : []),
  ].join(" · ");
