import { connect, type Socket } from "node:net";

/** What Kodi says of itself by JSON-RPC, for the judge of a test: the product sees the picture alone. */
export type Oracle = {
  ask(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** The window, and what has the focus in it. */
  gui(): Promise<{ window: string; windowId: number; control: string; isFullscreen: boolean }>;
  /** Notifications so far, oldest first, such as Player.OnAVStart; `at` is when they came. */
  readonly events: readonly { method: string; at: number; data: unknown }[];
  close(): void;
};

type Reply = { id?: number; method?: string; params?: { data?: unknown }; result?: unknown; error?: unknown };
type Gui = {
  currentwindow: { id: number; label: string };
  currentcontrol: { label: string };
  fullscreen: boolean;
};

const answerMs = 10_000;

/** Connects to the raw port of JSON-RPC, which also sends what happens. Rejects when nothing listens there. */
export async function connectOracle(port: number): Promise<Oracle> {
  const socket = await connected(port);
  const waiting = new Map<number, (reply: Reply) => void>();
  const events: { method: string; at: number; data: unknown }[] = [];
  let last = 0;
  onObjects(socket, (text) => {
    const reply = JSON.parse(text) as Reply;
    if (reply.method !== undefined)
      events.push({ method: reply.method, at: performance.now(), data: reply.params?.data });
    else waiting.get(reply.id ?? 0)?.(reply);
  });
  const ask: Oracle["ask"] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const settle = (work: () => void) => {
        waiting.delete(id);
        clearTimeout(late);
        work();
      };
      const fail = (why: string) => settle(() => reject(new Error(`${method}: ${why}`)));
      const late = setTimeout(() => fail(`no answer within ${answerMs} ms`), answerMs);
      waiting.set(id, ({ result, error }) =>
        error === undefined ? settle(() => resolve(result)) : fail(JSON.stringify(error)),
      );
      socket.once("close", () => waiting.has(id) && fail("Kodi closed the connection"));
      socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  return {
    ask,
    events,
    async gui() {
      const properties = ["currentwindow", "currentcontrol", "fullscreen"];
      const { currentwindow, currentcontrol, fullscreen } = (await ask("GUI.GetProperties", {
        properties,
      })) as Gui;
      return {
        ...{ window: currentwindow.label, windowId: currentwindow.id },
        ...{ control: currentcontrol.label, isFullscreen: fullscreen },
      };
    },
    close: () => socket.destroy(),
  };
}

const connected = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setMaxListeners(0);
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => undefined);
  });

/** Kodi sends objects without anything between them. */
function onObjects(socket: Socket, take: (text: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    rest += part;
    for (let end = endOfObject(rest); end > 0; end = endOfObject(rest)) {
      take(rest.slice(0, end));
      rest = rest.slice(end);
    }
  });
}

/** Behind the first object; 0 while it is not whole. */
function endOfObject(text: string): number {
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (found === "{") depth++;
    else if (found === "}" && --depth === 0) return index + 1;
  }
  return 0;
}
