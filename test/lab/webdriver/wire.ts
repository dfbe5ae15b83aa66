import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { z } from "zod";
import { type LabUi, nodesBelow, type UiNode } from "../android/labUi.ts";

/** Errors of the wire and their HTTP status: W3C WebDriver, Errors. */
const statuses = {
  "invalid argument": 400,
  "invalid element state": 400,
  "no such element": 404,
  "stale element reference": 404,
  "no such alert": 404,
  "invalid session id": 404,
  "unknown command": 404,
  "session not created": 500,
  "unable to capture screen": 500,
  "unknown error": 500,
} as const;

export class WireFailure extends Error {
  readonly status: number;

  constructor(
    readonly error: keyof typeof statuses,
    message: string,
  ) {
    super(message);
    this.status = statuses[error];
  }
}

export type Answer = { status: number; value: unknown };

export function answerTo(cause: unknown): Answer {
  const failure = cause instanceof WireFailure ? cause : new WireFailure("unknown error", String(cause));
  const { error, message, status, stack: stacktrace = "" } = failure;
  return { status, value: { error, message, stacktrace } };
}

/** Throws "invalid argument" for a body that does not fit. */
export function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new WireFailure("invalid argument", z.prettifyError(result.error));
}

/** The route of a path, and the ids in the path. Routes are `GET /element/:/text`; `:` is an id. */
export function findRoute<T>(routes: Readonly<Record<string, T>>, method: string, path: readonly string[]) {
  for (const [route, handle] of Object.entries(routes)) {
    const [wantedMethod, wantedPath = ""] = route.split(" ");
    const wanted = wantedPath.split("/").slice(1).filter(Boolean);
    if (wantedMethod !== method || wanted.length !== path.length) continue;
    if (!wanted.every((part, index) => part === ":" || part === path[index])) continue;
    return { handle, ids: path.filter((_, index) => wanted[index] === ":").map(decodeURIComponent) };
  }
  return undefined;
}

export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : JSON.parse(text);
}

/** Starts a server on a free port of loopback, and returns the port. */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
}

export function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const elementKey = "element-6066-11e4-a52e-4f735466cecf";

/** The elements that a session has returned. */
export class Elements {
  /** The keys of nodes by the ids of elements. */
  readonly #keys = new Map<string, string>();
  readonly #ui: LabUi;

  constructor(ui: LabUi) {
    this.#ui = ui;
  }

  active(): object {
    const focused = this.#nodes().find((node) => node.focused);
    if (!focused) throw new WireFailure("no such element", "No element has the focus");
    const id = randomUUID();
    this.#keys.set(id, focused.key);
    return { ELEMENT: id, [elementKey]: id };
  }

  /** The node as it is now. */
  node(id: string): UiNode {
    const key = this.#keys.get(id);
    const now = this.#nodes().find((node) => node.key === key);
    if (now) return now;
    throw new WireFailure("stale element reference", `The element '${id}' does not exist in DOM anymore`);
  }

  #nodes(): UiNode[] {
    return this.#ui.windows().flatMap(({ root }) => nodesBelow(root));
  }
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** An element of a page source; `below` is the text of its children. */
export function xmlElement(tag: string, attributes: Attributes, indent: string, below: string): string {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const text = pairs.map(([name, value]) => ` ${name}="${escaped(String(value))}"`).join("");
  if (below === "") return `${indent}<${tag}${text} />\n`;
  return `${indent}<${tag}${text}>\n${below}${indent}</${tag}>\n`;
}

export const xmlHead = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n";

const escapes: Readonly<Record<string, string>> = {
  ...{ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "\n": "&#10;" },
};

/** What XML has no place for becomes a question mark, as on the device. */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "?")
    .replace(/[<>&"\n]/g, (one) => escapes[one] ?? one);
