import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import type { Clock, LabUi } from "../android/labUi.ts";
import { type Answer, answerTo, bodyOf, findRoute, WireFailure } from "../webdriver/wire.ts";
import { launch } from "./appCommands.ts";
import { type IosPersona, negotiated } from "./capabilities.ts";
import { routes } from "./routes.ts";
import { IosSession } from "./session.ts";

export type IosFaults = {
  /** Before each answer; the device has done what was asked by then. */
  answerDelayMs: number;
  /** The next request but so many is done, and its connection breaks before the answer; undefined for none. */
  dropAfter: number | undefined;
  /** A page source has at least so many bytes. */
  sourceBytes: number;
  /** A command of `mobile:` that it does not know. */
  unknown?: string;
};

export type Access = { user: string; key: string };
/** A cloud takes scripts that begin so, and keeps the verdicts reported to it. */
export type LabCloud = { prefix: string; verdicts: string[] };
type Serving = {
  ui: LabUi;
  clock: Clock;
  persona: IosPersona;
  access: Access | undefined;
  cloud: LabCloud | undefined;
};
const scriptBody = z.object({ script: z.string() });

export type Asked = { method: string; path: string; status: number };

/** Sessions over HTTP, below `/wd/hub` as well, as clouds have it. */
export class IosServer {
  readonly faults: IosFaults = { answerDelayMs: 0, dropAfter: undefined, sourceBytes: 0 };
  readonly requests: Asked[] = [];
  readonly http = createServer((request, response) => void this.#answer(request, response));
  readonly #serving: Serving;
  #session: IosSession | undefined;

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  get session(): IosSession | undefined {
    return this.#session;
  }

  /** As a cloud does after a time without commands. */
  endSession(): void {
    this.#session?.logs.end();
    this.#session = undefined;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "GET";
    const path = (request.url ?? "/").replace(/\?.*$/, "").replace(/^\/wd\/hub/, "");
    const { status, value } = await this.#result(method, path, request);
    this.requests.push({ method, path, status });
    if (this.faults.answerDelayMs > 0)
      await new Promise<void>((resolve) => this.#serving.clock.after(this.faults.answerDelayMs, resolve));
    if (this.#dropsNow()) {
      response.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify({ value: value ?? null }));
  }

  #dropsNow(): boolean {
    const { dropAfter } = this.faults;
    if (dropAfter === undefined) return false;
    this.faults.dropAfter = dropAfter === 0 ? undefined : dropAfter - 1;
    return dropAfter === 0;
  }

  async #result(method: string, path: string, request: IncomingMessage): Promise<Answer> {
    try {
      const body = await bodyOf(request);
      if (!this.#mayUse(request))
        return { status: 401, value: { error: "unknown error", message: "Unauthorized" } };
      return { status: 200, value: await this.#handle(method, path, body) };
    } catch (cause) {
      return answerTo(cause);
    }
  }

  #mayUse({ headers }: IncomingMessage): boolean {
    const { access } = this.#serving;
    if (access === undefined) return true;
    return (
      headers.authorization === `Basic ${Buffer.from(`${access.user}:${access.key}`).toString("base64")}`
    );
  }

  async #handle(method: string, path: string, body: unknown): Promise<unknown> {
    if (path === "/status") return { ready: true, message: "The server is ready to accept new connections" };
    if (method === "POST" && path === "/session") return this.#open(body);
    const [, first, id = "", ...rest] = path.split("/");
    if (first !== "session") throw unknownCommand(method, path);
    const session = this.#sessionOf(id);
    if (method === "DELETE" && rest.length === 0) {
      this.endSession();
      return null;
    }
    if (rest.join("/") === "execute/sync" && this.#isForCloud(body)) return null;
    if (scriptBody.safeParse(body).data?.script === `mobile: ${this.faults.unknown}`)
      throw unknownCommand(method, path);
    const found = findRoute(routes, method, rest);
    if (found === undefined) throw unknownCommand(method, path);
    const value = await found.handle({ session, ids: found.ids, body });
    return rest[0] === "source" ? padded(String(value), this.faults.sourceBytes) : value;
  }

  #isForCloud(body: unknown): boolean {
    const { cloud } = this.#serving;
    const script = scriptBody.safeParse(body).data?.script;
    if (cloud === undefined || script?.startsWith(cloud.prefix) !== true) return false;
    cloud.verdicts.push(script);
    return true;
  }

  #open(body: unknown): object {
    const { persona, ui, clock } = this.#serving;
    if (this.#session?.isAlive())
      throw new WireFailure(
        "session not created",
        "A new session could not be created. Details: the device is in use",
      );
    const capabilities = negotiated(body, persona, ui);
    const session = new IosSession(ui, capabilities, clock);
    const bundleId = capabilities["appium:bundleId"];
    if (typeof bundleId === "string") launch(session, bundleId);
    this.#session?.logs.end();
    this.#session = session;
    return { sessionId: session.id, capabilities };
  }

  #sessionOf(id: string): IosSession {
    const session = this.#session;
    if (session?.id === id && session.isAlive()) return session;
    this.endSession();
    throw new WireFailure("invalid session id", "A session is either terminated or not started");
  }
}

function padded(source: string, bytes: number): string {
  const end = "</XCUIElementTypeApplication>";
  const filler =
    '<XCUIElementTypeOther type="XCUIElementTypeOther" enabled="true" visible="true" accessible="false" x="0" y="0" width="390" height="844" index="0" />\n';
  const count = Math.max(0, Math.ceil((bytes - source.length) / filler.length));
  return source.replace(end, `${filler.repeat(count)}${end}`);
}

const unknownCommand = (method: string, path: string) =>
  new WireFailure(
    "unknown command",
    `The requested resource could not be found, or a request was received using an HTTP method that is not supported by the mapped resource: ${method} ${path}`,
  );
