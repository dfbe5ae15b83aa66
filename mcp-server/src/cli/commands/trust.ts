import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { dataDirectory } from "../../config/places.ts";
import { trustedFolders, trustFolder, untrustFolder } from "../../config/trust.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

export type TrustOptions = {
  /** The working directory when left out. */
  folder?: string | undefined;
  dataDir?: string | undefined;
  list?: boolean | undefined;
  remove?: boolean | undefined;
};

/**
 * `labwright trust`: lets the labwright.yaml of a folder set everything, until these settings change. Exit code 1 when
 * there is nothing to remove. Throws CONFIG_INVALID for a folder without the file.
 */
export function runTrust(options: TrustOptions, { env, cwd, out, err }: Terminal): ExitCode {
  const dataDir = dataDirectory(env, options.dataDir).path;
  if (options.list) {
    for (const { folder, isCurrent } of trustedFolders(dataDir))
      out(isCurrent ? `${folder}\n` : `${folder} (changed since, so not trusted now)\n`);
    return exitCodes.passed;
  }
  const given = resolve(cwd, options.folder ?? ".");
  const folder = existsSync(given) ? realpathSync(given) : given;
  if (options.remove) {
    if (untrustFolder(folder, dataDir)) return exitCodes.passed;
    err(`${folder} is not trusted.\n`);
    return exitCodes.failed;
  }
  const paths = trustFolder(folder, dataDir);
  out(paths.length === 0 ? `${folder} needs no trust.\n` : `Trusted in ${folder}: ${paths.join(", ")}\n`);
  return exitCodes.passed;
}
