import { atMost } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { AllowedRequest } from "../../policy/allowedFetch.ts";
import { createUploads, type Uploads } from "../../policy/uploads.ts";
import { projectInUse } from "../../records/inUse.ts";
import { textOf } from "./requests/answer.ts";
import type { SpecAnswer, SpecQuestion } from "./spec/readSpec.ts";

export type DocumentPorts = {
  http(url: string, init: AllowedRequest): Promise<Response>;
  uploads: Uploads;
  readSpec(question: SpecQuestion): Promise<SpecAnswer>;
};

type Read = Extract<SpecAnswer, { spec: unknown }> & { documents: Readonly<Record<string, string>> };

/** All documents of one API together. */
const maxBytes = 10_000_000;
const mostDocuments = 200;
const timeoutMs = 30_000;

/**
 * Reads an OpenAPI document from an address, or from a file of the project in use or of the uploads folder, with the files
 * that it refers to. Documents at other addresses are fetched only with `allowRemote`. Throws INVALID_INPUT with every problem,
 * INPUT_TOO_LARGE, PATH_DENIED and what a request throws.
 */
export async function readDocuments(
  { source, allowRemote }: { source: string; allowRemote: boolean },
  signal: AbortSignal,
  ports: DocumentPorts,
): Promise<Read> {
  const place = placeOf(source, ports.uploads);
  const documents: Record<string, string> = {};
  const add = async (url: string) => {
    if (Object.keys(documents).length >= mostDocuments) throw tooLarge(`${mostDocuments} documents`);
    if (url !== place.root) checkReference(url, { place, source, allowRemote });
    documents[url] = await load(url, place, { signal, ports, left: maxBytes - sizeOf(documents) });
  };
  await add(place.root);
  for (;;) {
    const answer = await ports.readSpec({ root: place.root, documents });
    if ("spec" in answer) return { ...answer, documents };
    if ("problems" in answer) throw unusable(source, answer.problems);
    for (const url of answer.missing) await add(url);
  }
}

const sizeOf = (documents: Readonly<Record<string, string>>) =>
  Object.values(documents).reduce((sum, text) => sum + text.length, 0);

/** `root` of a file is its path in `files`, as an address. */
type Place = { root: string; files: Pick<Uploads, "readText"> | undefined };

function placeOf(source: string, uploads: Uploads): Place {
  if (/^https?:\/\//i.test(source)) {
    if (!URL.canParse(source)) throw unusable(source, ["it is not an address"]);
    return { root: new URL(source).href.replace(/#.*$/, ""), files: undefined };
  }
  const project = projectInUse();
  const own = project === "" ? undefined : createUploads(project);
  const files = own && isDocument.test(source) && isIn(own, source) ? own : uploads;
  const path = files.relative(source);
  return { root: `file:///${path.split("/").map(encodeURIComponent).join("/")}`, files };
}

/** Nothing else of a project is read, so that no error shows what another file holds. */
const isDocument = /\.(json|ya?ml)$/i;

function isIn(files: Uploads, source: string): boolean {
  try {
    files.relative(source);
    return true;
  } catch {
    return false;
  }
}

function checkReference(
  url: string,
  { place, source, allowRemote }: { place: Place; source: string; allowRemote: boolean },
): void {
  if (url.startsWith("file:") && place.files && isDocument.test(new URL(url).pathname)) return;
  if (!/^https?:/.test(url))
    throw unusable(source, [`it refers to ${url.slice(0, 200)}, which is never read`]);
  if (allowRemote) return;
  const { origin, pathname } = new URL(url);
  throw new ToolError(
    "INVALID_INPUT",
    `${source} refers to another document, ${origin}${pathname}, and nothing else is fetched for it.`,
    "Call again with allow_remote_refs: true if you trust that address, or import a document that holds everything.",
    { reference: origin + pathname },
  );
}

async function load(
  url: string,
  { files }: Place,
  { signal, ports, left }: { signal: AbortSignal; ports: DocumentPorts; left: number },
): Promise<string> {
  if (left <= 0) throw tooLarge(`${maxBytes / 1_000_000} MB`);
  if (files && url.startsWith("file:"))
    return files.readText(decodeURIComponent(new URL(url).pathname.slice(1)), left);
  const response = await ports.http(url, {
    headers: { accept: "application/json, application/yaml, text/yaml, */*" },
    maxBytes: left,
    signal: atMost(signal, timeoutMs),
  });
  if (!response.ok)
    throw new ToolError(
      "INVALID_RESPONSE",
      `${new URL(url).origin}${new URL(url).pathname} answers with status ${response.status}.`,
      "Check the address; a document behind a login can be saved as a file and imported from there.",
    );
  return textOf(new Uint8Array(await response.arrayBuffer()), response.headers.get("content-type") ?? "");
}

const tooLarge = (limit: string) =>
  new ToolError(
    "INPUT_TOO_LARGE",
    `The API's documents are more than ${limit}.`,
    "Import a part of the API.",
  );

const unusable = (source: string, problems: readonly string[]) =>
  new ToolError(
    "INVALID_INPUT",
    `${source} cannot be imported: ${problems.slice(0, 5).join("; ")}${problems.length > 5 ? `; and ${problems.length - 5} more` : ""}.`,
    "Correct the document and import it again. Nothing was changed.",
    { problems },
  );
