import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import sharp from "sharp";
import { WebSocketServer } from "ws";
import { z } from "zod";
import { listenOn } from "../remotes/listen.ts";
import { plugLogin } from "./plug.ts";

const loginSchema = z.object({ username: z.string(), password: z.string() });
const pressSchema = z.object({ action: z.string() });
const modeSchema = z.object({ mode: z.string() });

/** A picture that is neither black nor of one colour. */
async function pictureOf(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.from(Array.from({ length: width * height }, (_, at) => (at % width) * (255 / width)));
  return sharp(pixels, { raw: { width, height, channels: 1 } })
    .jpeg()
    .toBuffer();
}

/**
 * A One-KVM as its own server's code has it: one session a user, MJPEG in one of its modes, keys as USB reports over a web
 * socket, the power button of what it is plugged into. `isFed`: whether that shows a picture while it is on.
 */
export async function startOneKvm({ hasLed = true, isFed = () => true } = {}) {
  const kvm = {
    isOn: true,
    hasLed,
    hasKeyboard: true,
    mode: "h264",
    presses: [] as string[],
    keys: [] as string[],
  };
  let session = "";
  const jpeg = await pictureOf(320, 180);
  const isShown = () => kvm.isOn && isFed();
  const isOurs = ({ headers }: IncomingMessage) =>
    session !== "" && headers.cookie === `one_kvm_session=${session}`;

  const login = (body: unknown, response: ServerResponse) => {
    const { username, password } = loginSchema.parse(body);
    if (username !== plugLogin.user || password !== plugLogin.password)
      return reply(response, 401, { success: false, message: "Invalid username or password" });
    session = randomUUID();
    response.setHeader(
      "set-cookie",
      `one_kvm_session=${session}; HttpOnly; SameSite=Lax; Path=/; Max-Age=86400`,
    );
    return reply(response, 200, { next: "authenticated" });
  };
  const press = (body: unknown, response: ServerResponse) => {
    const { action } = pressSchema.parse(body);
    kvm.presses.push(action);
    kvm.isOn = action === "short" ? !kvm.isOn : action === "reset" && kvm.isOn;
    return reply(response, 200, { success: true, message: "executed" });
  };
  const stream = (response: ServerResponse) => {
    if (kvm.mode !== "mjpeg") return reply(response, 503, { error: "MJPEG mode not active." });
    response.writeHead(200, { "content-type": "multipart/x-mixed-replace; boundary=frame" });
    const timer = setInterval(() => {
      if (!isShown()) return response.end();
      response.write(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`);
      response.write(jpeg);
      response.write("\r\n");
    }, 40);
    return response.on("close", () => clearInterval(timer));
  };
  const power = () => (!kvm.hasLed ? "unknown" : kvm.isOn ? "on" : "off");
  const answers: Record<string, (response: ServerResponse, body: unknown) => unknown> = {
    "GET /api/hid/status": (response) =>
      reply(response, 200, { available: true, online: kvm.hasKeyboard, backend: "otg", initialized: true }),
    "GET /api/atx/status": (response) =>
      reply(response, 200, {
        available: true,
        initialized: true,
        power_status: power(),
        led_supported: kvm.hasLed,
      }),
    "POST /api/atx/power": (response, body) => press(body, response),
    "GET /api/stream/mode": (response) =>
      reply(response, 200, { success: true, mode: kvm.mode, switching: false }),
    "POST /api/stream/mode": (response, body) => {
      kvm.mode = modeSchema.parse(body).mode;
      return reply(response, 200, { success: true, mode: kvm.mode, switching: true });
    },
    "GET /api/stream/mjpeg": (response) => stream(response),
  };

  const server = createServer(async (request, response) => {
    const path = `${request.method} ${request.url}`;
    const body = request.method === "POST" ? await json(request) : undefined;
    if (path === "POST /api/auth/login") return login(body, response);
    if (!isOurs(request)) return reply(response, 401, { success: false, message: "Logged in elsewhere" });
    const answer = answers[path];
    return answer ? answer(response, body) : reply(response, 404, { success: false, message: "Not found" });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (request.url !== "/api/ws/hid" || !isOurs(request))
      return socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    return sockets.handleUpgrade(request, socket, head, (web) => {
      const status = () => web.send(Buffer.from([kvm.hasKeyboard ? 0 : 1]));
      status();
      web.on("message", (data, isBinary) => {
        if (!isBinary || !Buffer.isBuffer(data)) return web.send(Buffer.from([2]));
        return kvm.hasKeyboard ? kvm.keys.push(data.toString("hex")) : status();
      });
    });
  });
  const { port, close } = await listenOn(server);
  const url = `http://127.0.0.1:${port}`;
  /** As when a person logs in by the page. */
  const logInElsewhere = () => {
    session = randomUUID();
  };
  return { kvm, url, logInElsewhere, close };
}

const reply = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
