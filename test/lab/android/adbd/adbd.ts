import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { LabFaults } from "../faults.ts";
import type { DeviceSide } from "../labShell.ts";
import type { TransportHost } from "./host.ts";
import { Traffic } from "./traffic.ts";
import { Transport } from "./transport.ts";

/**
 * `none`: hosts need no key, as on an emulator. `allow`: every new key is allowed at once. `ask`: a new key waits for
 * `allow()`, and until then the host lists the device as unauthorized.
 */
export type Authorisation = "none" | "allow" | "ask";

export type Adbd = {
  readonly port: number;
  readonly traffic: Traffic;
  allow(): void;
  /** Forgets all keys and ends the connections, as "Revoke USB debugging authorisations" does; new keys wait for `allow()`. */
  revoke(): void;
  /** Ends the connections at once; a server that wants to may come again. */
  drop(): void;
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  close(): Promise<void>;
};

/** Every adb server scans these for emulators, also those of other people. */
const scannedPorts = { first: 5_555, last: 5_585 };

export async function startAdbd(
  device: DeviceSide,
  faults: LabFaults,
  authorisation: Authorisation = "none",
): Promise<Adbd> {
  const traffic = new Traffic();
  const keys = openKeyring(authorisation);
  const host: TransportHost = { device, faults, traffic, keys };
  const transports = new Set<Transport>();
  const accept = (socket: Socket) => {
    const transport = new Transport(socket, host);
    transports.add(transport);
    socket.once("close", () => transports.delete(transport));
  };
  const drop = () => {
    for (const transport of transports) transport.drop();
  };
  let listener = await listen(0, accept);
  const { port } = listener;
  const goOffline = async () => {
    const closed = listener.close();
    drop();
    await closed;
  };
  return {
    port,
    traffic,
    allow: keys.allow,
    revoke() {
      keys.revoke();
      drop();
    },
    drop,
    goOffline,
    async goOnline() {
      listener = await listen(port, accept);
    },
    close: goOffline,
  };
}

/** The keys that may connect, and those that wait to be allowed. */
function openKeyring(initial: Authorisation) {
  let authorisation = initial;
  let allowed: KeyObject[] = [];
  let waiting: { key: KeyObject; accept: () => void }[] = [];
  const allow = () => {
    const shown = waiting;
    waiting = [];
    for (const { key, accept } of shown) {
      allowed.push(key);
      accept();
    }
  };
  return {
    allow,
    revoke() {
      authorisation = "ask";
      allowed = [];
      waiting = [];
    },
    areNeeded: () => authorisation !== "none",
    has: (isIt: (key: KeyObject) => boolean) => allowed.some(isIt),
    ask(key: KeyObject, accept: () => void) {
      waiting.push({ key, accept });
      if (authorisation === "allow") allow();
    },
  };
}

async function listen(wanted: number, accept: (socket: Socket) => void) {
  for (;;) {
    const server = createServer(accept);
    server.listen(wanted, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
    if (port < scannedPorts.first || port > scannedPorts.last) return { port, close };
    await close();
  }
}
