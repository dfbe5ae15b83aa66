import { stat } from "node:fs/promises";
import type { Download } from "playwright-core";

const LARGEST_BYTES = 10_000_000;
const DEADLINE_MS = 30_000;

/**
 * Lets a small download finish and reports it; the browser deletes its file with the context. One that is larger than
 * 10 MB or takes longer than 30 s leaves nothing on the disk.
 */
export async function reportDownload(
  download: Download,
  announcedBytes: number | undefined,
  report: (line: string) => void,
): Promise<void> {
  const name = download.suggestedFilename();
  const from = `${name} from ${download.url().slice(0, 200)}`;
  if (announcedBytes !== undefined && announcedBytes > LARGEST_BYTES) {
    await download.cancel();
    report(`${from}: ${announcedBytes} bytes, not kept`);
    return;
  }
  const timer = setTimeout(() => {
    download.cancel().catch(() => undefined);
  }, DEADLINE_MS);
  try {
    const path = await download.path();
    const { size } = await stat(path);
    if (size > LARGEST_BYTES) await download.delete();
    report(`${from}: ${size} bytes`);
  } catch {
    report(`${from}: did not arrive (${(await download.failure()) ?? "not kept"})`);
  } finally {
    clearTimeout(timer);
  }
}
