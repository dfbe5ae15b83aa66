import { createServer } from "node:http";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";

/** One press of the button: on the page of `device`, with the device and the name that the presser intended. */
export type Press = { device: string; meant: string; who: string; at: number };
export type PressSite = { url: string; presses: readonly Press[]; close(): Promise<void> };

const page = (device: string) => `<!doctype html><title>${device}</title>
<form action="/did"><input type="hidden" name="device" value="${device}">
<label>Text <input name="text"></label><button>Send</button></form>`;

/** A page for each device; it writes down who pressed there, and which device was intended. */
export async function startPressSite(): Promise<PressSite> {
  const presses: Press[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    response.setHeader("content-type", "text/html");
    if (url.pathname !== "/did") return void response.end(page(url.pathname.slice(1)));
    const [meant = "", who = ""] = (url.searchParams.get("text") ?? "").split("|");
    presses.push({ device: url.searchParams.get("device") ?? "", meant, who, at: performance.now() });
    response.end("<!doctype html><title>done</title><p>Done</p>");
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  return { url, presses, close: () => closeServer(server) };
}

/** What a presser does on a device, as one batch. */
export const pressActions = (url: string, device: string, who: string) => [
  { command: "navigate_to_url", params: { url: `${url}/${device}` } },
  { command: "input_text", params: { selector: "Text", text: `${device}|${who}` } },
  { command: "click_element", params: { selector: "Send" } },
];
