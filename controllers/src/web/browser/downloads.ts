import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Download } from "playwright-core";
import { shortened } from "../../elements/quoted.ts";

const LARGEST_BYTES = 10_000_000;
const DEADLINE_MS = 30_000;
const KEPT = 50;

/** What a file holds. `text` is absent where its bytes are not UTF-8 text. */
export type FileContent = { bytes: number; sha256: string; text?: string };
export type DownloadEnd = { ok: true; bytes: number } | { ok: false; reason: string };

/** A download of the page. `read` may be called once it has arrived; its file goes with the browser context. */
export type ReceivedDownload = {
  name: string;
  url: string;
  isTaken: boolean;
  /** How it ended; undefined while it goes on. */
  end(): DownloadEnd | undefined;
  read(): Promise<FileContent>;
};

/** Keeps what arrives. `report` gets one line for each download that has ended. */
export class Downloads {
  /** The last fifty, oldest first. */
  readonly history: ReceivedDownload[] = [];

  constructor(private readonly report: (line: string) => void) {}

  receive(download: Download, announcedBytes: number | undefined): void {
    const [name, url] = [download.suggestedFilename(), download.url()];
    let end: DownloadEnd | undefined;
    let content: Promise<FileContent> | undefined;
    const read = () => {
      content ??= download.path().then(contentOf);
      return content;
    };
    this.history.push({ name, url, isTaken: false, end: () => end, read });
    if (this.history.length > KEPT) this.history.shift();
    void arrived(download, announcedBytes).then((how) => {
      end = how;
      this.report(`${name} from ${shortened(url, 200)}: ${endText(how)}`);
    });
  }

  clear(): void {
    this.history.length = 0;
  }
}

export const endText = (end: DownloadEnd): string => (end.ok ? `${end.bytes} bytes` : end.reason);

/** One that is larger than 10 MB or takes longer than 30 s leaves nothing on the disk. Never throws. */
async function arrived(download: Download, announcedBytes = 0): Promise<DownloadEnd> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    download.cancel().catch(() => undefined);
  }, DEADLINE_MS);
  try {
    if (announcedBytes > LARGEST_BYTES) {
      await download.cancel();
      return { ok: false, reason: tooLarge(announcedBytes) };
    }
    const { size } = await stat(await download.path());
    if (size <= LARGEST_BYTES) return { ok: true, bytes: size };
    await download.delete();
    return { ok: false, reason: tooLarge(size) };
  } catch {
    // The browser may be gone by then.
    const failure = (await download.failure().catch(() => null)) ?? "not kept";
    const late = `not there after ${DEADLINE_MS / 1_000} s, stopped`;
    return { ok: false, reason: `did not arrive (${isLate ? late : failure})` };
  } finally {
    clearTimeout(timer);
  }
}

const tooLarge = (bytes: number): string => `${bytes} bytes, not kept (limit ${LARGEST_BYTES})`;

async function contentOf(path: string): Promise<FileContent> {
  const bytes = await readFile(path);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return { bytes: bytes.length, sha256, ...(isText && { text: new TextDecoder().decode(bytes) }) };
}
