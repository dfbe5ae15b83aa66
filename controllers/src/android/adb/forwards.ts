import { AdbSocket } from "./socket.ts";

/** A port of this machine that leads to an endpoint of a device. */
export type Forward = { serial: string; port: number; remote: string };

/** What the server forwards to a device. */
export async function listForwards(port: number, serial: string, signal: AbortSignal): Promise<Forward[]> {
  const socket = await AdbSocket.open(port, signal);
  try {
    await socket.request("host:list-forward");
    const text = (await socket.readText()) ?? "";
    return text.split("\n").flatMap((line) => {
      const [owner = "", local = "", remote = ""] = line.split(" ");
      const own = Number(/^tcp:(\d+)$/.exec(local)?.[1]);
      return owner === serial && own > 0 ? [{ serial, port: own, remote }] : [];
    });
  } finally {
    socket.close();
  }
}

/** Throws AdbRefusal for one that is not there. */
export async function removeForward(
  port: number,
  { serial, port: local }: Pick<Forward, "serial" | "port">,
  signal: AbortSignal,
): Promise<void> {
  const socket = await AdbSocket.open(port, signal);
  try {
    await socket.request(`host-serial:${serial}:killforward:tcp:${local}`);
  } finally {
    socket.close();
  }
}
