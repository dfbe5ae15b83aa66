import type { Context } from "hono";
import { z } from "zod";
import type { StepView } from "../domain/index.ts";
import { ToolError } from "../errors.ts";
import type { Caller } from "../server/call/callTool.ts";
import { type Addresses, pictureMs } from "../server/page/addresses.ts";
import type { LiveFrames, Services } from "../services/index.ts";
import { newTraceId, readInput } from "./errors.ts";

type PageDeps = {
  apps: Pick<Services["userinterfaces"], "map">;
  reports: Pick<Services["reports"], "view" | "compare">;
  addresses: Pick<Addresses, "sign">;
  live: Pick<LiveFrames, "recent">;
  principalOf(request: Request): Caller;
};

const noStore = { "cache-control": "no-store" };

export const runQuerySchema = z.object({
  after: z.coerce.number().int().min(-1).default(-1).describe("Only steps behind this index."),
  wait_ms: z.coerce.number().int().min(0).max(30_000).default(0).describe("Waits so long for the run's end."),
});

/** The address of a device's live picture. The device is looked up when it is opened. */
export function liveAddress(c: Context, { addresses }: PageDeps): Response {
  const id = encodeURIComponent(c.req.param("id") ?? "");
  return c.json({ href: addresses.sign(`/api/v1/devices/${id}/live`, pictureMs) });
}

/** The times and addresses of a device's last pictures, oldest first; with a time the last picture that is not after it. */
export function recentResponse(c: Context, { live, addresses }: PageDeps): Response {
  const [id, wanted] = [c.req.param("id") ?? "", c.req.param("at")];
  const kept = live.recent(id);
  if (wanted === undefined) {
    const path = `/api/v1/devices/${encodeURIComponent(id)}/recent`;
    const href = (at: number) => addresses.sign(`${path}/${at}`, pictureMs);
    const pictures = kept.map(({ at }) => ({ at: new Date(at).toISOString(), href: href(at) }));
    return c.json({ pictures }, 200, noStore);
  }
  const found = kept.findLast(({ at }) => at <= Number(wanted));
  if (found) return c.body(new Uint8Array(found.bytes), 200, { ...noStore, "content-type": found.mimeType });
  throw new ToolError("ARTIFACT_NOT_FOUND", "No picture of that time is kept.", "Read `recent` again.");
}

/** An app's trees with addresses of the pictures of its nodes. */
export async function mapResponse(c: Context, { apps, addresses }: PageDeps): Promise<Response> {
  const map = await apps.map(c.req.param("id") ?? "");
  const nodes = map.nodes.map((node) => ({
    ...node,
    picture: node.picture && hrefOf(node.picture, addresses),
  }));
  return c.json({ ...map, nodes }, 200, noStore);
}

/** A run with addresses of its pictures and recordings. */
export async function runResponse(c: Context, deps: PageDeps): Promise<Response> {
  const { reports, principalOf } = deps;
  const { after, wait_ms: waitMs } = readInput(runQuerySchema, c.req.query(), "Give after and wait_ms.");
  const { signal } = c.req.raw;
  const { principal, client } = principalOf(c.req.raw);
  const view = await reports.view(
    c.req.param("id") ?? "",
    { after, waitMs },
    {
      ...{ principal, client, signal, trace_id: newTraceId() },
      ...{ deadline: Number.MAX_SAFE_INTEGER, progress: () => {}, capabilities: { elicitation: false } },
    },
  );
  const steps = view.steps.map((step) => withAddresses(step, deps));
  const recordings = addressed(view.recordings, deps);
  return c.json({ ...view, steps, recordings }, 200, noStore);
}

/** A run next to the last good run, with addresses of the pictures of both. */
export async function comparisonResponse(c: Context, deps: PageDeps): Promise<Response> {
  const found = await deps.reports.compare(c.req.param("id") ?? "");
  const rows = found.rows.map(({ good, now, ...row }) => ({
    ...row,
    ...(good && { good: withAddresses(good, deps) }),
    ...(now && { now: withAddresses(now, deps) }),
  }));
  return c.json({ ...found, rows }, 200, noStore);
}

const addressed = <Kept extends { uri: string }>(kept: readonly Kept[], { addresses }: PageDeps) =>
  kept.map((one) => ({ ...one, href: hrefOf(one.uri, addresses) }));

const withAddresses = ({ pictures, files, ...step }: StepView, deps: PageDeps) => ({
  ...step,
  pictures: addressed(pictures, deps),
  files: addressed(files, deps),
});

function hrefOf(uri: string, { sign }: PageDeps["addresses"]): string | undefined {
  const sha256 = /^artifact:\/\/([0-9a-f]{64})$/.exec(uri)?.[1];
  return sha256 && sign(`/api/v1/artifacts/${sha256}`, pictureMs);
}
