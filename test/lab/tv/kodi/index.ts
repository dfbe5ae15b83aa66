import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningProgram, startProgram } from "#controllers/programs/run.ts";
import { poll } from "#controllers/waiting/deadlines.ts";
import { startXServer } from "../xServer.ts";
import { channelNames, makeChannels } from "./media.ts";
import { connectOracle, type Oracle } from "./oracle.ts";
import { writeProfile } from "./profile.ts";

export type KodiLab = {
  /** Of X11, such as ":77". */
  display: string;
  oracle: Oracle;
  /** Of its JSON-RPC. */
  port: number;
  /** Of its files. */
  folder: string;
  /** Where Kodi looks for a lircd, whose keys it takes. */
  infrared: string;
  /** Ids of its processes: of the X server and of Kodi. */
  pids: readonly number[];
  /** Ends it, and removes its files. */
  stop(): Promise<void>;
};

const startMs = 90_000;
const homeWindow = 10_000;
const questionWindow = 10_100;

/**
 * Starts Kodi as a set-top box on a display of its own, with three channels. It and its X server end with this process, also
 * when that is killed with -9. Throws when it does not come to its home screen within 90 s.
 */
export async function startKodi(signal = new AbortController().signal): Promise<KodiLab> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-kodi-"));
  const programs: RunningProgram[] = [];
  let oracle: Oracle | undefined;
  const stop = async () => {
    oracle?.close();
    // Kodi first: it complains of a display that has gone.
    for (const program of programs.splice(0).reverse()) await program.end();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const { display, program } = await startXServer();
    programs.push(program);
    const { playlist, media } = await makeChannels(folder);
    const [tcpPort, eventPort] = [await freePort(), await freePort()];
    const home = join(folder, "home");
    await mkdir(home);
    await writeProfile(home, { tcpPort, eventPort, media, playlist });
    programs.push(startIn(home, display));
    oracle = await untilHome(tcpPort, signal);
    await untilChannels(oracle, signal);
    const pids = programs.flatMap(({ child }) => child.pid ?? []);
    return { display, port: tcpPort, folder, infrared: join(home, "lircd"), oracle, pids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startIn(home: string, display: string): RunningProgram {
  const env = {
    ...process.env,
    ...{ HOME: home, DISPLAY: display, LIBGL_ALWAYS_SOFTWARE: "1" },
    // Kodi looks every second whether a lircd is there.
    LIRC_SOCKET_PATH: join(home, "lircd"),
  };
  const program = startProgram("kodi", ["--standalone", "--windowing=x11"], { env, cwd: home });
  drain(program, join(home, "kodi.out"));
  return program;
}

/** A program that nobody reads stops when its pipe is full. */
function drain({ child }: RunningProgram, file: string): void {
  const to = createWriteStream(file, { flags: "a" });
  child.stdout?.pipe(to);
  child.stderr?.pipe(to);
}

async function untilHome(port: number, signal: AbortSignal): Promise<Oracle> {
  let oracle: Oracle | undefined;
  const isHome = async () => {
    try {
      oracle ??= await connectOracle(port);
      const { windowId } = await oracle.gui();
      // Debian's add-ons are installed and off. Kodi asks whether to enable this one, and would then show its settings.
      if (windowId === questionWindow) await oracle.ask("Input.Back");
      return windowId === homeWindow;
    } catch {
      return false;
    }
  };
  const isReady = await poll(isHome, { everyMs: 200, ms: startMs, signal });
  if (isReady && oracle) return oracle;
  oracle?.close();
  throw new Error(`Kodi did not come to its home screen within ${startMs} ms`);
}

async function untilChannels(oracle: Oracle, signal: AbortSignal): Promise<void> {
  await oracle.ask("Addons.SetAddonEnabled", { addonid: "pvr.iptvsimple", enabled: true });
  const areThere = async () => {
    const channels = (await oracle
      .ask("PVR.GetChannels", { channelgroupid: "alltv" })
      .catch(() => undefined)) as { channels?: unknown[] } | undefined;
    return channels?.channels?.length === channelNames.length;
  };
  if (await poll(areThere, { everyMs: 200, ms: startMs, signal })) return;
  throw new Error(`Kodi did not list its ${channelNames.length} channels within ${startMs} ms`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
