import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { TransportHost } from "./host.ts";
import { isSignedBy, parseHostKey } from "./hostKey.ts";
import { encodePacket, mostData, type Packet, PacketReader, protocolVersion } from "./packets.ts";
import { type ReverseRules, reverseRules } from "./reverse.ts";
import { serve } from "./services.ts";
import { AdbStream } from "./stream.ts";

const auth = { token: 1, signature: 2, publicKey: 3 };
const tokenBytes = 20;
/** What a host may use; without a word it falls back to what older devices do. */
const features = ["shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir"];

/** A connection from an adb server: first the handshake, then streams at the same time. */
export class Transport {
  readonly rules: ReverseRules = reverseRules();
  private readonly reader = new PacketReader();
  private readonly streams = new Map<number, AdbStream>();
  private readonly opening = new Map<number, (stream: AdbStream | undefined) => void>();
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
      for (const answer of this.opening.values()) answer(undefined);
    });
  }

  drop(): void {
    this.socket.destroy();
  }

  /** Opens a stream to what the host's reverse rule of this endpoint names; undefined without a rule, or if it is refused. */
  async openReverse(endpoint: string): Promise<AdbStream | undefined> {
    const target = this.rules.find(endpoint);
    if (target === undefined || this.socket.destroyed) return undefined;
    const id = this.nextId++;
    const answer = new Promise<AdbStream | undefined>((resolve) => this.opening.set(id, resolve));
    this.send({ command: "OPEN", arg0: id, arg1: 0, data: Buffer.from(`${target}\0`) });
    return answer;
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
    else if (command === "OKAY") this.okay(arg0, arg1);
    else if (command === "CLSE") this.close(arg1);
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
    const stream = this.add(this.nextId++, remoteId, { ended });
    void serve(service, stream, this.host, this.rules).catch(() => stream.destroy());
  }

  private add(
    localId: number,
    remoteId: number,
    { isOpen = false, ended }: { isOpen?: boolean; ended?: () => void } = {},
  ): AdbStream {
    const link = {
      mostData: this.mostData,
      send: (packet: Omit<Packet, "data"> & { data?: Buffer }) => this.send(packet),
      forget: (id: number) => {
        this.streams.delete(id);
        ended?.();
      },
    };
    const stream = new AdbStream(link, localId, remoteId, isOpen);
    this.streams.set(localId, stream);
    return stream;
  }

  private okay(remoteId: number, localId: number): void {
    const answer = this.opening.get(localId);
    this.opening.delete(localId);
    if (answer) answer(this.add(localId, remoteId, { isOpen: true }));
    else this.streams.get(localId)?.receiveOkay();
  }

  private close(localId: number): void {
    this.opening.get(localId)?.(undefined);
    this.opening.delete(localId);
    this.streams.get(localId)?.receiveClose();
  }
}
