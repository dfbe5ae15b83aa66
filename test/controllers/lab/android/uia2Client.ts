import { onTestFinished } from "vitest";
import { z } from "zod";
import { startUia2, type Uia2Server } from "../../../lab/android/uia2/server.ts";
import { type Device, device, phoneScreen } from "./uiDevice.ts";

const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const element = z.object({ [elementKey]: z.string(), ELEMENT: z.string() });
const rect = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** `error` is W3C's code of what failed. */
export type Answer = { status: number; value: unknown; error: string | undefined };

export type Session = Device & {
  server: Uia2Server;
  id: string;
  send(method: string, path: string, body?: object): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: object): Promise<Answer>;
  source(): Promise<string>;
  /** The id of the first that is found. */
  find(strategy: string, selector: string): Promise<string>;
  findAll(strategy: string, selector: string, context?: string): Promise<string[]>;
  textOf(element: string): Promise<unknown>;
  rectOf(element: string): Promise<z.output<typeof rect>>;
  settings(changed: object): Promise<Answer>;
  /** An element as gestures take it. */
  origin(element: string): object;
};

/** A screen, the server over it, and a session with the words of the wire. */
export async function session(options = phoneScreen): Promise<Session> {
  const phone = device(options);
  const server = await startUia2(phone.ui, { clock: phone.clock });
  onTestFinished(() => server.close());
  const send = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { value } = z.object({ value: z.unknown() }).parse(await response.json());
    const failure = z.object({ error: z.string(), message: z.string() }).safeParse(value);
    return { status: response.status, value, error: failure.data?.error };
  };
  const { value } = await send("POST", "/session", { capabilities: { firstMatch: [{}], alwaysMatch: {} } });
  const id = z.object({ sessionId: z.string() }).parse(value).sessionId;
  const get = (path: string) => send("GET", `/session/${id}${path}`);
  const post = (path: string, body: object = {}) => send("POST", `/session/${id}${path}`, body);
  return {
    ...phone,
    server,
    id,
    send,
    get,
    post,
    source: async () => z.string().parse((await get("/source")).value),
    async find(strategy, selector) {
      const found = await post("/element", { strategy, selector, context: "", multiple: false });
      return element.parse(found.value)[elementKey];
    },
    async findAll(strategy, selector, context) {
      const found = await post("/elements", { strategy, selector, context, multiple: true });
      return z
        .array(element)
        .parse(found.value)
        .map((one) => one[elementKey]);
    },
    textOf: async (of) => (await get(`/element/${of}/text`)).value,
    rectOf: async (of) => rect.parse((await get(`/element/${of}/rect`)).value),
    settings: (changed) => post("/appium/settings", { settings: changed }),
    origin: (of) => ({ [elementKey]: of, ELEMENT: of }),
  };
}
