import { pause, poll } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import { unavailable } from "./place.ts";

/** Where the server of the driver listens on a device. */
const serverPort = 6790;
/** Both files list it, in hexadecimal digits, as one that listens (Linux: proc_net_tcp). */
const hexPort = serverPort.toString(16).toUpperCase().padStart(4, "0");
const listensLine = `cat /proc/net/tcp6 /proc/net/tcp | grep ':${hexPort} [0-9A-F]*:0000 0A '`;
/** As often as the driver polls its server, which needs over a second to start. */
const everyMs = 1_000;
const longestMs = 60_000;

/** Fails early with UIA_UNAVAILABLE if the device's server listens but adb cannot reach it; the driver would wait. */
export async function unlessRefused<T>(link: Link, opening: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const watching = watch(link, AbortSignal.any([signal, done.signal]));
  const unless = watching.then((isRefused) => {
    if (isRefused) throw refused();
    return opening;
  });
  try {
    return await Promise.race([opening, unless]);
  } finally {
    done.abort();
  }
}

/** Whether connections to the listening server are refused; false if that cannot be determined. */
async function watch(link: Link, signal: AbortSignal): Promise<boolean> {
  const listens = async () => (await link.script(listensLine, signal)).stdout !== "";
  try {
    await pause(everyMs, signal);
    return (
      (await poll(listens, { everyMs, ms: longestMs, signal })) &&
      !(await link.reaches(`tcp:${serverPort}`, signal)) &&
      // It may just have ended.
      (await listens())
    );
  } catch {
    return false;
  }
}

const refused = () =>
  unavailable(
    `its session did not start: its server runs on the device, and connections that adb forwards to port ${serverPort} are refused`,
    "See whether a policy of the device, or what stands between adb and the device, forbids port forwarding",
  );
