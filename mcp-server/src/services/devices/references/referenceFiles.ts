import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DeviceError, nearest, type ReferencePicture } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { type Database, referenceRows } from "../../../storage/index.ts";
import { userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { appNamed } from "../../records/inUse.ts";
import { sizeOf } from "./onScreen.ts";

/** Younger files may belong to a reference that is being stored. */
const protectedMs = 3_600_000;

/** The pictures of references, `<folder>/<sha256>.png`. They stay as long as a reference names them. */
export class ReferenceFiles {
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {}

  /** Returns the sha256. The file is written under another name and renamed, so it is always whole. */
  async put(png: Uint8Array): Promise<string> {
    const sha256 = createHash("sha256").update(png).digest("hex");
    const now = new Date(this.clock.now());
    const temporary = join(this.folder, `${randomUUID()}.tmp`);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, png, { mode: 0o600, flag: "wx" });
      await utimes(temporary, now, now);
      await rename(temporary, this.path(sha256));
    } finally {
      await rm(temporary, { force: true });
    }
    return sha256;
  }

  /** Throws REFERENCE_NOT_FOUND, also for a file that is no longer what its name says. */
  async get(sha256: string): Promise<Buffer> {
    // Checked before it becomes a part of a path.
    const isName = /^[0-9a-f]{64}$/.test(sha256);
    const bytes = isName ? await readFile(this.path(sha256)).catch(() => undefined) : undefined;
    if (bytes && createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
    throw new ToolError(
      "REFERENCE_NOT_FOUND",
      `The picture ${sha256.slice(0, 80)} is not on this host${bytes ? ", or is damaged" : ""}.`,
      "Take the uri from list_references; save the reference again with replace: true if its file is gone.",
    );
  }

  /** Removes what `used` does not name, and what writers left that were killed. */
  async removeOrphans(used: (sha256: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const old: string[] = [];
    for (const name of await readdir(this.folder).catch(() => [])) {
      const { mtimeMs } = await stat(join(this.folder, name)).catch(() => ({ mtimeMs: Number.NaN }));
      if (this.clock.now() - mtimeMs > protectedMs) old.push(name);
    }
    const kept = await used(old.map(sha256Of));
    for (const name of old) if (!kept.has(sha256Of(name))) await rm(join(this.folder, name), { force: true });
  }

  private path(sha256: string): string {
    return join(this.folder, `${sha256}.png`);
  }
}

const sha256Of = (fileName: string) => fileName.replace(/\.\w+$/, "");

/** A picture by its name in the app in use, or by `userinterface/name`. Throws REFERENCE_NOT_FOUND with the nearest names. */
export type FindPicture = (of: {
  app: string | undefined;
  model: string;
  name: string;
}) => Promise<ReferencePicture>;

type Dependencies = { db: Database; folder: string; clock: Clock };

const all = 100_000;

export function createFindPicture({ db, folder, clock }: Dependencies): FindPicture {
  const files = new ReferenceFiles(folder, clock);
  const rows = referenceRows(db);
  const appOf = async (ref: string) => appNamed(await userinterfaceRows(db).named(ref), ref);
  const rowOf = async (app: string | undefined, device_model: string, name: string) => {
    const found = app === undefined ? undefined : await appOf(app);
    return found && rows.find({ userinterface_id: found.id, device_model, name });
  };
  const namesOf = async (app: string, device_model: string) => {
    const userinterface_id = (await appOf(app))?.id ?? "";
    const { found } = await rows.list({ userinterface_id, device_model }, all);
    return found.flatMap((one) => (one.kind === "image" ? [one.name] : []));
  };
  return async ({ app, model, name }) => {
    const [, named, short] = /^([^/]+)\/(.+)$/.exec(name) ?? [];
    const row = (await rowOf(app, model, name)) ?? (await rowOf(named, model, short ?? ""));
    if (row?.sha256 === undefined) {
      const of = app ?? named;
      throw of === undefined ? noApp(name) : notFound(of, model, name, await namesOf(of, model));
    }
    const bytes = await files.get(row.sha256);
    const size = await sizeOf(bytes);
    const rotation = row.space?.rotation ?? 0;
    const picture = { mimeType: "image/png", bytes, ...size, rotation, takenAt: row.updated_at } as const;
    return { picture, ...(row.area && { area: row.area }), ...(row.space && { space: row.space }) };
  };
}

const noApp = (name: string) =>
  new DeviceError(
    "REFERENCE_NOT_FOUND",
    `No app is in use here, and the reference "${name}" belongs to one; write it with its userinterface, as tv/${name}.`,
  );

function notFound(app: string, model: string, name: string, names: readonly string[]): DeviceError {
  const near = nearest(name, names);
  const next = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "save_reference takes one.";
  return new DeviceError(
    "REFERENCE_NOT_FOUND",
    `${app} has no picture "${name}" for the model ${model}. ${next}`,
    { nearest: near },
  );
}
