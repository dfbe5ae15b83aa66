import { existsSync } from "node:fs";
import { chmod, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const mostResultBytes = 64_000;
const begin = "labwright-script-";
let leftoversGone: Promise<unknown> | undefined;

/** Folders of runs whose server was killed: the process that their names tell of is gone. */
async function removeLeftovers(): Promise<void> {
  const names = await readdir(tmpdir());
  const pidOf = (name: string) => Number(new RegExp(`^${begin}(\\d+)-`).exec(name)?.[1]);
  const left = names.filter((name) => pidOf(name) > 0 && !existsSync(`/proc/${pidOf(name)}`));
  // Another user's cannot be removed, and need not be.
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true })));
}

/** The server's folder for one run, where the socket and the result lie; only the two are shown to the script. */
export async function openRunFolder() {
  leftoversGone ??= process.platform === "linux" ? removeLeftovers() : Promise.resolve();
  await leftoversGone;
  const folder = await mkdtemp(join(tmpdir(), `${begin}${process.pid}-`));
  const result = join(folder, "result.json");
  await writeFile(result, "");
  await chmod(result, 0o666);
  return {
    folder,
    socket: join(folder, "socket"),
    result,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

/** What the script wrote as its result. Bounded, since the script decides how much it is. */
export async function readResult({ result }: RunFolder): Promise<string> {
  const handle = await open(result);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostResultBytes), 0, mostResultBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
