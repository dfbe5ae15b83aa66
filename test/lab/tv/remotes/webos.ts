import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { listenOn } from "./listen.ts";

/** An LG TV by SSAP: it asks before it pairs, forgets its clients when told, and gets buttons on its pointer socket. */
export async function startWebos() {
  const buttons: string[] = [];
  const tv = {
    accepts: true,
    key: "",
    front: "com.webos.app.home",
    isSilent: false,
    isOff: false,
    nextKey: "9f1c0a7d34b2",
  };
  const server = createServer();
  const main = new WebSocketServer({ noServer: true });
  const pointer = new WebSocketServer({ noServer: true, autoPong: false });
  server.on("upgrade", (request, socket, head) => {
    const room = request.url === "/pointer" ? pointer : main;
    room.handleUpgrade(request, socket, head, (web) => room.emit("connection", web));
  });
  pointer.on("connection", (web) => {
    web.on("ping", (data) => tv.isSilent || web.pong(data));
    web.on("message", (data) => {
      const [, name] = /^type:button\nname:(\w+)\n\n$/.exec(String(data)) ?? [];
      if (name !== undefined) buttons.push(name);
    });
  });
  const answers: Record<string, (payload: { id?: string }) => object> = {
    "system/getSystemInfo": () => ({ modelName: "OLED55C1" }),
    "audio/getVolume": () => ({ volume: 7 }),
    "system/turnOff": () => {
      tv.isOff = true;
      return {};
    },
    "system.launcher/launch": ({ id = "" }) => {
      tv.front = id;
      return { id };
    },
    "system.launcher/close": () => ({}),
    "com.webos.applicationManager/getForegroundAppInfo": () => ({ appId: tv.front }),
    "com.webos.applicationManager/listApps": () => ({
      apps: [{ id: "netflix", title: "Netflix", version: "1.2" }],
    }),
    "com.webos.service.networkinput/getPointerInputSocket": () => ({
      socketPath: `ws://127.0.0.1:${listening.port}/pointer`,
    }),
  };
  main.on("connection", (web) => {
    let isPaired = false;
    const say = (message: object) => web.send(JSON.stringify(message));
    const register = (id: string, key: string) => {
      isPaired = tv.key !== "" && key === tv.key;
      if (!isPaired) {
        say({ id, type: "response", payload: { pairingType: "PROMPT", returnValue: true } });
        if (tv.isSilent) return;
        if (!tv.accepts) return say({ id, type: "error", error: "403 User rejected pairing" });
        tv.key = tv.nextKey;
        isPaired = true;
      }
      say({ id, type: "registered", payload: { "client-key": tv.key } });
    };
    web.on("message", (data) => {
      const { id, type, uri = "", payload = {} } = JSON.parse(String(data));
      if (type === "register") return register(id, payload["client-key"]);
      const answer = answers[uri.replace("ssap://", "")];
      if (!isPaired) return say({ id, type: "error", error: "401 insufficient permissions" });
      if (uri.endsWith("/echo")) return say({ id, type: "error", error: `500 no such key: ${tv.key}` });
      if (answer === undefined) return say({ id, type: "error", error: "404 no such service or method" });
      say({ id, type: "response", payload: { returnValue: true, ...answer(payload) } });
    });
  });
  const listening = await listenOn(server);
  return { buttons, tv, ...listening };
}
