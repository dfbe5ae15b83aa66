import { backendFrames, FrontendBuffer, greeting, isLastWord, refusal } from "./wire.ts";

/** ReadyForQuery's state outside a transaction: "I". */
const idleState = 0x49;

/** The server's half of a client's connection. `send` may keep the bytes. */
export type Peer = { send(bytes: Uint8Array<ArrayBuffer>): void; close(): void };
type Connection = { peer: Peer; incoming: FrontendBuffer; gone: boolean };
type Work = { from: Connection; bytes: Uint8Array; since: number };

export type SessionEngine = {
  version: string;
  execute(bytes: Uint8Array): Promise<Uint8Array>;
  rollback(): Promise<void>;
  /** Called before a statement that no transaction is open for. */
  beforeTransaction?(): Promise<void>;
  /** Called after the answer of a statement that the engine did not survive. */
  broken?(): void;
};

/**
 * One database session shared by many connections. It belongs to a connection from BEGIN to COMMIT; the others wait,
 * and are refused with SQLSTATE 55P03 when the owner has been idle in its transaction for `waitMs`: without that, code
 * that uses the outer handle inside a transaction would wait for itself for ever.
 */
export class SharedSession {
  private readonly connections = new Set<Connection>();
  private readonly waiting: Work[] = [];
  private owner: Connection | undefined;
  private ownerActive = 0;
  private running = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly engine: SessionEngine,
    private readonly waitMs: number,
  ) {}

  attach(peer: Peer): { receive(chunk: Uint8Array): void; detach(): Promise<void> } {
    const connection: Connection = { peer, incoming: new FrontendBuffer(), gone: false };
    this.connections.add(connection);
    return {
      receive: (chunk) => this.receive(connection, chunk),
      detach: () => this.detach(connection),
    };
  }

  private receive(from: Connection, chunk: Uint8Array): void {
    for (const part of from.incoming.push(chunk)) {
      if (part.kind === "startup") from.peer.send(greeting(this.engine.version));
      else if (part.kind === "end") from.peer.close();
      else this.waiting.push({ from, bytes: part.bytes, since: performance.now() });
    }
    void this.pump();
  }

  private async detach(connection: Connection): Promise<void> {
    connection.gone = true;
    this.connections.delete(connection);
    for (let i = this.waiting.length - 1; i >= 0; i--)
      if (this.waiting[i]?.from === connection) this.waiting.splice(i, 1);
    // While a statement runs, `pump` sees that its sender has gone and rolls back.
    if (this.owner !== connection || this.running) return;
    this.running = true;
    await this.freeOwner();
    this.running = false;
    await this.pump();
  }

  private async freeOwner(): Promise<void> {
    await this.engine.rollback();
    this.owner = undefined;
  }

  private async pump(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let work = this.next(); work !== undefined; work = this.next()) {
      if (this.owner === undefined) await this.engine.beforeTransaction?.();
      const answer = await this.answer(work.bytes);
      if (this.deliver(work.from, answer) === "last") this.engine.broken?.();
      if (work.from.gone && this.owner === work.from) await this.freeOwner();
    }
    this.running = false;
    this.armRefusal();
  }

  private next(): Work | undefined {
    const at = this.waiting.findIndex((work) => this.owner === undefined || work.from === this.owner);
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0];
  }

  /** A fault of the engine itself (a trap in the wasm) is an answer too: a client must never wait for ever. */
  private async answer(bytes: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.engine.execute(bytes);
    } catch (error) {
      return refusal("XX000", error instanceof Error ? error.message : String(error), "PANIC");
    }
  }

  /** "last": the engine ends with this answer. */
  private deliver(to: Connection, answer: Uint8Array): "last" | undefined {
    // An answer without ReadyForQuery is a part of one: the connection goes on owning the session.
    let idle = false;
    let word: "last" | undefined;
    for (const frame of backendFrames(answer)) {
      const { type, bytes } = frame;
      if (isLastWord(frame)) word = "last";
      if (type === "Z") idle = bytes[5] === idleState;
      if (type === "A") this.notifyOthers(to, bytes);
    }
    this.owner = idle ? undefined : to;
    this.ownerActive = performance.now();
    if (!to.gone) to.peer.send(new Uint8Array(answer));
    return word;
  }

  /** A notification belongs to whoever listens; clients without a listener drop it. */
  private notifyOthers(sender: Connection, bytes: Uint8Array): void {
    for (const other of this.connections) if (other !== sender) other.peer.send(new Uint8Array(bytes));
  }

  private armRefusal(): void {
    clearTimeout(this.timer);
    if (this.owner === undefined || this.waiting.length === 0) return;
    const first = Math.min(...this.waiting.map((work) => this.deadline(work)));
    this.timer = setTimeout(() => this.refuseLate(), Math.max(0, first - performance.now()));
  }

  private deadline(work: Work): number {
    return Math.max(work.since, this.ownerActive) + this.waitMs;
  }

  private refuseLate(): void {
    if (this.running || this.owner === undefined) return;
    const now = performance.now();
    const late = this.waiting.filter((work) => this.deadline(work) <= now);
    for (const work of late) {
      this.waiting.splice(this.waiting.indexOf(work), 1);
      work.from.peer.send(
        refusal(
          "55P03",
          "another connection kept a transaction open; inside a transaction use only the handle that it passes",
        ),
      );
    }
    this.armRefusal();
  }
}
