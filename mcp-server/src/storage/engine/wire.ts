/**
 * The few bytes of the PostgreSQL wire protocol that one session shared by many connections has to understand.
 * Source: PostgreSQL documentation, "Frontend/Backend Protocol", message formats.
 */

type FrontendPart = { kind: "startup" } | { kind: "end" } | { kind: "batch"; bytes: Uint8Array<ArrayBuffer> };
type BackendFrame = { type: string; bytes: Uint8Array };

const typeLetter = (bytes: Uint8Array, at: number) => String.fromCharCode(bytes[at] ?? 0);

function lengthAt(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(offset);
}

/** The messages of a server's answer, in order. */
export function* backendFrames(bytes: Uint8Array): Generator<BackendFrame> {
  let at = 0;
  while (at + 5 <= bytes.length) {
    const end = at + 1 + lengthAt(bytes, at + 1);
    yield { type: typeLetter(bytes, at), bytes: bytes.subarray(at, end) };
    at = end;
  }
}

/** Whether a server ends with what it says: an error of severity FATAL or PANIC. */
export const isLastWord = ({ type, bytes }: BackendFrame): boolean =>
  type === "E" && /\0V(FATAL|PANIC)\0/.test(Buffer.from(bytes).toString("latin1"));

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Sync, simple query and Flush: the messages after which a server must answer. */
const endsBatch = new Set(["S", "Q", "H"]);

/** Cuts what a client writes into batches, each of which is answered as a whole. */
export class FrontendBuffer {
  private held: Uint8Array = new Uint8Array(0);
  private started = false;

  push(chunk: Uint8Array): FrontendPart[] {
    const all = this.held.length === 0 ? chunk : concat([this.held, chunk]);
    const parts: FrontendPart[] = [];
    let begin = 0;
    let at = 0;
    while (at + 5 <= all.length) {
      // The first message of a connection has no type letter.
      const prefix = this.started ? 1 : 0;
      const end = at + prefix + lengthAt(all, at + prefix);
      if (end > all.length) break;
      const type = this.started ? typeLetter(all, at) : "startup";
      at = end;
      const part = this.partAt(type, all.subarray(begin, at));
      if (part === undefined) continue;
      parts.push(part);
      begin = at;
    }
    this.held = all.slice(begin);
    return parts;
  }

  private partAt(type: string, bytes: Uint8Array): FrontendPart | undefined {
    if (type === "startup") {
      this.started = true;
      return { kind: "startup" };
    }
    if (type === "X") return { kind: "end" };
    return endsBatch.has(type) ? { kind: "batch", bytes: replacingStatement(bytes) } : undefined;
  }
}

/**
 * All connections share one session and so its prepared statements, whose names are made of their text. A client that prepares
 * one for itself replaces what another has made: Close, which the session answers also when there is nothing to close,
 * goes before Parse.
 */
function replacingStatement(batch: Uint8Array): Uint8Array<ArrayBuffer> {
  const nameEnd = batch.indexOf(0, 5);
  if (typeLetter(batch, 0) !== "P" || nameEnd <= 5) return new Uint8Array(batch);
  return concat([frame("C", concat([text.encode("S"), batch.subarray(5, nameEnd + 1)])), batch]);
}

const text = new TextEncoder();

function frame(type: string, body: Uint8Array): Uint8Array {
  const head = new Uint8Array(5);
  head[0] = type.charCodeAt(0);
  new DataView(head.buffer).setInt32(1, body.length + 4);
  return concat([head, body]);
}

const status = (name: string, value: string) => frame("S", text.encode(`${name}\0${value}\0`));
const ready = () => frame("Z", text.encode("I"));

/** What a server says to a client that it lets in: no password, UTF-8, UTC. */
export function greeting(version: string): Uint8Array<ArrayBuffer> {
  return concat([
    frame("R", new Uint8Array(4)),
    status("server_version", version),
    status("client_encoding", "UTF8"),
    status("DateStyle", "ISO, MDY"),
    status("integer_datetimes", "on"),
    status("standard_conforming_strings", "on"),
    status("TimeZone", "UTC"),
    frame("K", new Uint8Array(8)),
    ready(),
  ]);
}

/** An error answer by SQLSTATE, after which the client may go on unless it is a PANIC. */
export function refusal(code: string, message: string, severity = "ERROR"): Uint8Array<ArrayBuffer> {
  const fields = `S${severity}\0V${severity}\0C${code}\0M${message}\0\0`;
  return concat([frame("E", text.encode(fields)), ready()]);
}
