import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import type { TransportHost } from "./host.ts";
import { runShell, runShellV2 } from "./shell.ts";
import { type AdbStream, writeTo } from "./stream.ts";
import { serveSync } from "./sync.ts";
import { RequestCounter } from "./traffic.ts";

/** What a production build answers (AOSP, adb/daemon/restart_service.cpp). */
const answers: Readonly<Record<string, string>> = {
  root: "adbd cannot run as root in production builds\n",
  unroot: "adbd not running as root\n",
  remount: 'Not running as root. Try "adb root" first.\n',
  usb: "restarting in USB mode\n",
  tcpip: "restarting in TCP mode port: 5555\n",
};

/** Serves a stream to its end. A service that there is not is refused. */
export async function serve(service: string, stream: AdbStream, host: TransportHost): Promise<void> {
  const [name = "", rest = ""] = service.split(/:(.*)/s, 2);
  const [kind = "", ...options] = name.split(",");
  if (kind === "shell" || kind === "exec") {
    stream.accept();
    const run = options.includes("v2") ? runShellV2 : runShell;
    await run(rest, stream, host.device);
  } else if (kind === "sync") {
    stream.accept();
    await serveSync(stream, host.device.files);
  } else if (kind === "reboot") {
    stream.accept();
    host.device.reboot();
  } else if (answers[kind] !== undefined) {
    stream.accept();
    await writeTo(stream, answers[kind]);
  } else return forward(service, stream, host);
  stream.end();
}

async function forward(endpoint: string, stream: AdbStream, host: TransportHost): Promise<void> {
  const target = host.faults.forwardRefused ? undefined : await host.device.connect(endpoint);
  if (!target) return stream.refuse();
  const requests = new RequestCounter(() => {
    host.traffic.requests += 1;
  });
  stream.on("data", (bytes: Buffer) => requests.push(bytes));
  stream.accept();
  const close = () => target.destroy();
  stream.gone.addEventListener("abort", close, { once: true });
  await Promise.allSettled([pipeline(stream, target, { end: false }), pipeline(target, stream)]);
  if (!target.destroyed) await once(target, "close");
}
