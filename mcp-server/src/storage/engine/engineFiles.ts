import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFolder } from "./packageFolder.ts";

// Apart from open.ts, since the daemon starts the engine before it loads anything heavy.

/** Where the build puts the worker and the template, and where a data directory keeps its cluster. */
export function engineFiles(dataDir: string): { folder: string; templateFile: string; workerFile: URL } {
  const dist = join(packageFolder(), "dist");
  return {
    folder: join(dataDir, "db"),
    templateFile: join(dist, "template.tar.br"),
    workerFile: pathToFileURL(join(dist, "pgliteWorker.js")),
  };
}
