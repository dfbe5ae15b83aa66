import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Download } from "playwright-core";

const LARGEST_BYTES = 10_000_000;
const DEADLINE_MS = 30_000;
const KEPT = 50;

/** What a file holds. `text` is absent where its bytes are no UTF-8 text. */
export type FileContent = { bytes: number; sha256: string; text?: string };

/** A download of the page. `read` may be called once it has arrived; its file goes with the browser context. */
export type ReceivedDownload = {
  name: string;
  url: string;
  /** How it ended; undefined while it goes on. */
  end(): DownloadEnd | undefined;
  ended: Promise<DownloadEnd>;
  read(): Promise<FileContent>;
};
export type DownloadEnd = { ok: true; bytes: number } | { ok: false; reason: string };

export type Downloads = {
  /** The last fifty, oldest first. */
  readonly history: readonly ReceivedDownload[];
  /** The oldest that fits and that nobody has taken yet; it is taken by this. */
  take(fits: (download: ReceivedDownload) => boolean): ReceivedDownload | undefined;
};

export type ReceivingDownloads = Downloads & {
  receive(download: Download, announcedBytes: number | undefined): void;
  clear(): void;
};

/** `report` gets one line for each download that has ended. */
export function createDownloads(report: (line: string) => void): ReceivingDownloads {
  const history: ReceivedDownload[] = [];
  const taken = new WeakSet<ReceivedDownload>();
  return {
    history,
    take(fits) {
      const found = history.find((one) => !taken.has(one) && fits(one));
      if (found) taken.add(found);
      return found;
    },
    receive(download, announcedBytes) {
      const received = watchDownload(download, announcedBytes);
      history.push(received);
      if (history.length > KEPT) history.shift();
      const from = `${received.name} from ${received.url.slice(0, 200)}`;
      received.ended.then((end) => report(`${from}: ${endText(end)}`)).catch(() => undefined);
    },
    clear() {
      history.length = 0;
    },
  };
}

export const endText = (end: DownloadEnd): string => (end.ok ? `${end.bytes} bytes` : end.reason);

function watchDownload(download: Download, announcedBytes: number | undefined): ReceivedDownload {
  let end: DownloadEnd | undefined;
  let content: Promise<FileContent> | undefined;
  const ended = arrived(download, announcedBytes).then((how) => {
    end = how;
    return how;
  });
  return {
    name: download.suggestedFilename(),
    url: download.url(),
    end: () => end,
    ended,
    read() {
      content ??= download.path().then(contentOf);
      return content;
    },
  };
}

/** One that is larger than 10 MB or takes longer than 30 s leaves nothing on the disk. Never throws. */
async function arrived(download: Download, announcedBytes: number | undefined): Promise<DownloadEnd> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    download.cancel().catch(() => undefined);
  }, DEADLINE_MS);
  try {
    if (announcedBytes !== undefined && announcedBytes > LARGEST_BYTES) {
      await download.cancel();
      return { ok: false, reason: tooLarge(announcedBytes) };
    }
    const { size } = await stat(await download.path());
    if (size <= LARGEST_BYTES) return { ok: true, bytes: size };
    await download.delete();
    return { ok: false, reason: tooLarge(size) };
  } catch {
    const late = `not there after ${DEADLINE_MS / 1_000} s, stopped`;
    return { ok: false, reason: `did not arrive (${isLate ? late : await failureText(download)})` };
  } finally {
    clearTimeout(timer);
  }
}

const tooLarge = (bytes: number): string => `${bytes} bytes, not kept (limit ${LARGEST_BYTES})`;

/** The browser may be gone by then. */
const failureText = async (download: Download): Promise<string> =>
  (await download.failure().catch(() => null)) ?? "not kept";

async function contentOf(path: string): Promise<FileContent> {
  const bytes = await readFile(path);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const text = textOf(bytes);
  return { bytes: bytes.length, sha256, ...(text !== undefined && { text }) };
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
