import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Answer, answerTo, bodyOf, findRoute, listen, stop, WireFailure } from "../../webdriver/wire.ts";
import { type Clock, type LabUi, realClock } from "../labUi.ts";
import { jpeg } from "./pictures.ts";
import { routes, type Uia2Device } from "./routes.ts";
import { Uia2Session } from "./session.ts";

export type Uia2Faults = {
  /** The next request but so many ends the instrumentation without an answer; undefined for none. */
  crashAfter: number | undefined;
  sourceDelayMs: number;
};

export type Uia2Server = {
  httpPort: number;
  mjpegPort: number;
  faults: Uia2Faults;
  requests: readonly { method: string; path: string; status: number }[];
  /** Fulfilled when the instrumentation ends, whatever ended it. */
  ended: Promise<"session deleted" | "crashed" | "closed">;
  close(): Promise<void>;
};

const labDevice: Uia2Device = {
  manufacturer: "Labwright",
  model: "Lab device",
  brand: "labwright",
  apiVersion: "34",
  platformVersion: "14",
};

type Uia2Options = {
  clock?: Clock;
  device?: Uia2Device;
  /** How long a request takes, such as `GET /source`: its path below the session. */
  delayMs?(request: string): number;
};

const noDelay = () => 0;

/** The HTTP interface of the UiAutomator2 server 10.6.6, and its stream of pictures, on free ports of this machine. */
export async function startUia2(
  ui: LabUi,
  { clock = realClock, device = labDevice, delayMs = noDelay }: Uia2Options = {},
): Promise<Uia2Server> {
  const instrumentation = new Instrumentation(ui, { clock, device, delayMs });
  const { faults, requests, ended } = instrumentation;
  const [httpPort, mjpegPort] = await instrumentation.listen();
  return { httpPort, mjpegPort, faults, requests, ended, close: () => instrumentation.end("closed") };
}

const lineEnd = Buffer.from("\r\n\r\n");

type End = Awaited<Uia2Server["ended"]>;

class Instrumentation {
  readonly faults: Uia2Faults = { crashAfter: undefined, sourceDelayMs: 0 };
  readonly requests: { method: string; path: string; status: number }[] = [];
  readonly ended: Promise<End>;
  readonly #ui: LabUi;
  readonly #clock: Clock;
  readonly #device: Uia2Device;
  readonly #delayMs: (request: string) => number;
  readonly #http: Server;
  readonly #mjpeg: Server;
  #session: Uia2Session | undefined;
  #reportEnd: (end: End) => void = () => undefined;

  constructor(ui: LabUi, { clock, device, delayMs }: Required<Uia2Options>) {
    this.#ui = ui;
    this.#clock = clock;
    this.#device = device;
    this.#delayMs = delayMs;
    this.#http = createServer((request, response) => void this.#answer(request, response));
    this.#mjpeg = createServer((_, response) => void this.#stream(response));
    this.ended = new Promise((resolve) => {
      this.#reportEnd = resolve;
    });
  }

  async listen(): Promise<[number, number]> {
    return [await listen(this.#http), await listen(this.#mjpeg)];
  }

  async end(end: End): Promise<void> {
    this.#session?.close();
    this.#session = undefined;
    this.#reportEnd(end);
    await Promise.all([this.#http, this.#mjpeg].map(stop));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "GET";
    const path = (request.url ?? "/").replace(/\?.*$/, "");
    if (this.#crashesNow()) {
      this.requests.push({ method, path, status: 0 });
      await this.end("crashed");
      return;
    }
    await this.#delay(this.#delayMs(`${method} ${path.replace(/^\/session\/[^/]+/, "")}`));
    const { status, value } = await this.#result(method, path, request);
    this.requests.push({ method, path, status });
    const body = JSON.stringify({ sessionId: this.#session?.id ?? "None", value: value ?? null });
    response.writeHead(status, { "content-type": "application/json; charset=UTF-8" });
    response.end(body);
    if (method === "DELETE" && status === 200)
      response.once("finish", () => void this.end("session deleted"));
  }

  #crashesNow(): boolean {
    const { crashAfter } = this.faults;
    if (crashAfter === undefined) return false;
    this.faults.crashAfter = crashAfter - 1;
    return crashAfter <= 0;
  }

  async #result(method: string, path: string, request: IncomingMessage): Promise<Answer> {
    try {
      return { status: 200, value: await this.#handle(method, path, await bodyOf(request)) };
    } catch (cause) {
      return answerTo(cause);
    }
  }

  async #handle(method: string, path: string, body: unknown): Promise<unknown> {
    if (path === "/status") {
      return {
        ready: true,
        message: "UiAutomator2 Server is ready to accept commands",
        build: { version: "10.6.6" },
      };
    }
    if (path === "/sessions") return this.#session ? [{ id: this.#session.id }] : [];
    if (method === "POST" && path === "/session") return this.#newSession(body);
    if (!path.startsWith("/session/")) throw unknownCommand(method, path);
    const [, , id = "", ...rest] = path.split("/");
    const session = this.#sessionOf(id);
    if (method === "DELETE" && rest.length === 0) return null;
    await this.#ui.settle();
    if (rest[0] === "source") await this.#delay(this.faults.sourceDelayMs);
    const found = findRoute(routes, method, rest);
    if (!found) throw unknownCommand(method, path);
    return found.handle({ session, device: this.#device, ids: found.ids, body });
  }

  #sessionOf(id: string): Uia2Session {
    const session = this.#session;
    if (!session)
      throw new WireFailure("invalid session id", "A session is either terminated or not started");
    if (session.id === id) return session;
    throw new WireFailure("invalid session id", `The session identified by ${id} is not known`);
  }

  #newSession(body: unknown): object {
    this.#session?.close();
    const capabilities = capabilitiesOf(body);
    this.#session = new Uia2Session(this.#ui, this.#clock);
    return { sessionId: this.#session.id, capabilities };
  }

  async #stream(response: ServerResponse): Promise<void> {
    const boundary = "--BoundaryString";
    response.writeHead(200, { "content-type": `multipart/x-mixed-replace; boundary=${boundary}` });
    while (!response.destroyed) {
      const setting = (name: string, otherwise: number) => this.#session?.numberSetting(name) ?? otherwise;
      const scale = setting("mjpegScalingFactor", 50);
      const frame = await jpeg(this.#ui, { scale, quality: setting("mjpegServerScreenshotQuality", 50) });
      const head = `${boundary}\r\nContent-type: image/jpeg\r\nContent-Length: ${frame.length}\r\n\r\n`;
      // A reader that is too slow misses frames.
      if (!response.writableNeedDrain) response.write(Buffer.concat([Buffer.from(head), frame, lineEnd]));
      await this.#delay(1_000 / Math.max(1, setting("mjpegServerFramerate", 10)));
    }
  }

  async #delay(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.#clock.after(ms, resolve));
  }
}

const unknownCommand = (method: string, path: string) =>
  new WireFailure("unknown command", `The server knows no ${method} ${path}`);

const isObject = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null;

function capabilitiesOf(body: unknown): Record<string, unknown> {
  const capabilities = isObject(body) ? body.capabilities : undefined;
  if (!isObject(capabilities)) {
    throw new WireFailure("session not created", "'capabilities' are mandatory for session creation");
  }
  const { firstMatch, alwaysMatch } = capabilities;
  const first: unknown = Array.isArray(firstMatch) ? firstMatch[0] : {};
  return { ...(isObject(alwaysMatch) ? alwaysMatch : {}), ...(isObject(first) ? first : {}) };
}
