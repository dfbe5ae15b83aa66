import type { Context } from "hono";
import { z } from "zod";
import type { StepView } from "../domain/index.ts";
import type { Caller } from "../server/call/callTool.ts";
import { type Addresses, pictureMs } from "../server/page/addresses.ts";
import type { Services } from "../services/index.ts";
import { newTraceId, readInput } from "./errors.ts";

type PageDeps = {
  apps: Pick<Services["userinterfaces"], "map">;
  reports: Pick<Services["reports"], "view" | "compare">;
  addresses: Pick<Addresses, "sign">;
  principalOf(request: Request): Caller;
};

export const runQuerySchema = z.object({
  after: z.coerce.number().int().min(-1).default(-1).describe("Only steps behind this index."),
  wait_ms: z.coerce.number().int().min(0).max(30_000).default(0).describe("Waits so long for the run's end."),
});

/** The address of a device's live picture. The device is looked up when it is opened. */
export function liveAddress(c: Context, { addresses }: PageDeps): Response {
  const id = encodeURIComponent(c.req.param("id") ?? "");
  return c.json({ href: addresses.sign(`/api/v1/devices/${id}/live`, pictureMs) });
}

/** An app's trees with addresses of the pictures of its nodes. */
export async function mapResponse(c: Context, { apps, addresses }: PageDeps): Promise<Response> {
  const map = await apps.map(c.req.param("id") ?? "");
  const nodes = map.nodes.map((node) => ({
    ...node,
    picture: node.picture && hrefOf(node.picture, addresses),
  }));
  return c.json({ ...map, nodes }, 200, { "cache-control": "no-store" });
}

/** A run with addresses of its pictures. */
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
  return c.json({ ...view, steps }, 200, { "cache-control": "no-store" });
}

/** A run next to the last good run, with addresses of the pictures of both. */
export async function comparisonResponse(c: Context, deps: PageDeps): Promise<Response> {
  const found = await deps.reports.compare(c.req.param("id") ?? "");
  const rows = found.rows.map(({ good, now, ...row }) => ({
    ...row,
    ...(good && { good: withAddresses(good, deps) }),
    ...(now && { now: withAddresses(now, deps) }),
  }));
  return c.json({ ...found, rows }, 200, { "cache-control": "no-store" });
}

function withAddresses({ pictures, files, ...step }: StepView, { addresses }: PageDeps) {
  const addressed = <Kept extends { uri: string }>(kept: Kept) => ({
    ...kept,
    href: hrefOf(kept.uri, addresses),
  });
  return { ...step, pictures: pictures.map(addressed), files: files.map(addressed) };
}

function hrefOf(uri: string, { sign }: PageDeps["addresses"]): string | undefined {
  const sha256 = /^artifact:\/\/([0-9a-f]{64})$/.exec(uri)?.[1];
  return sha256 && sign(`/api/v1/artifacts/${sha256}`, pictureMs);
}
