import { z } from "zod";
import { type DaemonFile, daemonHeaders, daemonUrl, readDaemonFile } from "#mcp-server/server/daemonFile.ts";
import type { Sides } from "../sides.ts";

const replySchema = z.object({
  success: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

/** A daemon that people look at: its page, and its tools over REST. */
export type LookedAt = {
  pid: number;
  file(): DaemonFile;
  /** Throws unless the tool succeeds. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<void>;
  end(): Promise<void>;
};

/** Starts a daemon whose host is `lab`, with the browser that all sides get. */
export async function startLookedAt(sides: Sides, dataDir: string): Promise<LookedAt> {
  const config = await sides.newConfig({ server: { name: "lab" } });
  const bridge = sides.ours(dataDir, { config });
  await bridge.initialize();
  await bridge.call("list_hosts", {});
  const file = () => {
    const found = readDaemonFile(dataDir);
    if (!found) throw new Error("the daemon ended");
    return found;
  };
  return {
    pid: Number(await sides.daemonPid(dataDir)),
    file,
    async call(tool, args) {
      const response = await fetch(daemonUrl(file(), `/api/v1/tools/${tool}`), {
        method: "POST",
        headers: { ...daemonHeaders(file(), "bench/1"), "content-type": "application/json" },
        body: JSON.stringify(args),
      });
      const { success, error } = replySchema.parse(await response.json());
      if (!success) throw new Error(`${tool} failed: ${error?.code} ${error?.message}`);
    },
    async end() {
      await bridge.end();
      await sides.stopDaemon(dataDir);
    },
  };
}
