import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { TransportHost } from "./host.ts";
import { isSignedBy, parseHostKey } from "./hostKey.ts";
import { encodePacket, mostData, type Packet, PacketReader, protocolVersion } from "./packets.ts";
import { serve } from "./services.ts";
import { AdbStream } from "./stream.ts";

const auth = { token: 1, signature: 2, publicKey: 3 };
const tokenBytes = 20;
/** What a host may use; without a word it falls back to what older devices do. */
const features = ["shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir"];

/** A connection from an adb server: first the handshake, then streams at the same time. */
export class Transport {
  private readonly reader = new PacketReader();
  private readonly streams = new Map<number, AdbStream>();
  private token = randomBytes(tokenBytes);
  private isIn = false;
  private nextId = 1;
  private mostData = mostData;

  constructor(
    private readonly socket: Socket,
    private readonly host: TransportHost,
  ) {
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => this.receive(bytes));
    socket.on("close", () => {
      for (const stream of [...this.streams.values()]) stream.receiveClose();
    });
  }

  drop(): void {
    this.socket.destroy();
  }

  private receive(bytes: Buffer): void {
    this.host.traffic.received += bytes.length;
    if (this.host.faults.silent || this.isDropped(bytes.length)) return;
    try {
      this.reader.push(bytes);
      for (let packet = this.reader.next(); packet; packet = this.reader.next()) this.handle(packet);
    } catch {
      this.drop();
    }
  }

  private send(packet: Omit<Packet, "data"> & { data?: Buffer }): void {
    if (this.socket.destroyed) return;
    const bytes = encodePacket(packet);
    if (this.isDropped(bytes.length)) return;
    this.host.traffic.sent += bytes.length;
    this.socket.write(bytes);
  }

  /** Counts down to the drop of the fault, which happens once. */
  private isDropped(bytes: number): boolean {
    const { faults } = this.host;
    if (faults.dropAfterBytes === undefined || !this.isIn) return false;
    faults.dropAfterBytes -= bytes;
    if (faults.dropAfterBytes > 0) return false;
    faults.dropAfterBytes = undefined;
    this.drop();
    return true;
  }

  private handle(packet: Packet): void {
    const { command, arg0, arg1, data } = packet;
    if (command === "CNXN") this.greet(arg1);
    else if (command === "AUTH") this.authorise(arg0, data);
    else if (!this.isIn) this.drop();
    else if (command === "OPEN") this.open(arg0, data);
    else if (command === "WRTE") this.streams.get(arg1)?.receive(data);
    else if (command === "OKAY") this.streams.get(arg1)?.receiveOkay();
    else if (command === "CLSE") this.streams.get(arg1)?.receiveClose();
  }

  private greet(hostMostData: number): void {
    this.mostData = Math.min(mostData, hostMostData);
    if (this.host.keys.areNeeded()) this.challenge();
    else this.letIn();
  }

  private challenge(): void {
    this.token = randomBytes(tokenBytes);
    this.send({ command: "AUTH", arg0: auth.token, arg1: 0, data: this.token });
  }

  private authorise(type: number, data: Buffer): void {
    if (type === auth.signature) {
      if (this.host.keys.has((key) => isSignedBy(key, this.token, data))) this.letIn();
      else this.challenge();
      return;
    }
    const key = type === auth.publicKey ? parseHostKey(data.toString("latin1")) : undefined;
    if (key) this.host.keys.ask(key, () => this.letIn());
    else this.drop();
  }

  private letIn(): void {
    this.isIn = true;
    const parts = Object.entries(this.host.device.banner()).map(([name, value]) => `${name}=${value};`);
    const banner = `device::${parts.join("")}features=${features.join(",")}`;
    this.send({ command: "CNXN", arg0: protocolVersion, arg1: mostData, data: Buffer.from(banner) });
  }

  private open(remoteId: number, data: Buffer): void {
    const service = data.toString("utf8").replace(/\0+$/, "");
    const ended = this.host.traffic.opened(service);
    const localId = this.nextId++;
    const link = {
      mostData: this.mostData,
      send: (packet: Omit<Packet, "data"> & { data?: Buffer }) => this.send(packet),
      forget: (id: number) => {
        this.streams.delete(id);
        ended();
      },
    };
    const stream = new AdbStream(link, localId, remoteId);
    this.streams.set(localId, stream);
    void serve(service, stream, this.host).catch(() => stream.destroy());
  }
}
