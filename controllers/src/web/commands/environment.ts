import type { Page } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { act } from "../act.ts";
import type { DrivenSession } from "../session.ts";
import { readStorageState, writeStorageState } from "../storageState.ts";

/** Dialogs, storage and network: what surrounds the page. */
export function environmentCommands(session: DrivenSession): Command[] {
  return [handleDialog(session), saveStorageState(session), loadStorageState(session), setNetwork(session)];
}

function handleDialog(session: DrivenSession): Command {
  const input = z.strictObject({
    accept: z.boolean(),
    prompt_text: z.string().max(10_000).optional().describe("What a prompt is answered with."),
  });
  return defineCommand<typeof input>({
    name: "handle_dialog",
    description:
      "Sets the answer to the next dialog; call it before the action that opens one. Without it alerts are accepted, other dialogs dismissed.",
    effect: "write",
    input,
    async run({ accept, prompt_text }) {
      session.page();
      session.dialogs.arm({ accept, promptText: prompt_text });
      return { message: `the next dialog will be ${accept ? "accepted" : "dismissed"}` };
    },
  });
}

const stateName = z.string().min(1).max(100);

function saveStorageState(session: DrivenSession): Command {
  const input = z.strictObject({ name: stateName });
  return defineCommand<typeof input>({
    name: "save_storage_state",
    description: "Saves cookies and local storage (a login, say) under a name.",
    effect: "read",
    input,
    async run({ name }, signal) {
      const path = session.context.storageStatePath(name);
      const options = {
        command: "save_storage_state",
        timeoutMs: 10_000,
        signal,
        done: `saved storage state "${name}"`,
      };
      return act(session, options, async () => {
        await writeStorageState(path, await session.storageState());
      });
    },
  });
}

function loadStorageState(session: DrivenSession): Command {
  const input = z.strictObject({
    name: stateName.optional().describe("Of a saved state; absent: start with nothing."),
  });
  return defineCommand<typeof input>({
    name: "load_storage_state",
    description:
      "Starts afresh: all tabs, cookies and storage go, and those saved under the name come back, if one is given.",
    effect: "write",
    input,
    async run({ name }, signal) {
      const state =
        name === undefined ? undefined : await readStorageState(session.context.storageStatePath(name), name);
      const done = name === undefined ? "started with an empty browser" : `loaded storage state "${name}"`;
      const result = await act(
        session,
        { command: "load_storage_state", timeoutMs: 10_000, signal, done: "" },
        () => session.reset(state),
      );
      return { message: done, ...(result.data === undefined ? {} : { data: result.data }) };
    },
  });
}

function setNetwork(session: DrivenSession): Command {
  const rate = z.number().int().min(1).max(10_000_000).optional();
  const input = z.strictObject({
    offline: z.boolean().default(false),
    latency_ms: z.number().int().min(0).max(60_000).optional().describe("Added to each request."),
    download_kbps: rate,
    upload_kbps: rate,
    headers: z
      .record(z.string().min(1).max(200), z.string().max(10_000))
      .optional()
      .describe("Sent with every request."),
  });
  return defineCommand<typeof input>({
    name: "set_network",
    description: "Sets the network of all tabs: off, slow, or with extra headers; what is absent is reset.",
    effect: "write",
    input,
    async run({ offline, headers, ...slow }, signal) {
      const slowed = Object.values(slow).some((value) => value !== undefined);
      if (slowed && !session.isChromium()) {
        throw new DeviceError(
          "ACTION_REJECTED",
          "Only Chromium can be slowed down. Leave out latency and rates, or use browser: chromium.",
        );
      }
      const state = offline ? "off" : slowed ? "slow" : "on";
      return act(
        session,
        { command: "set_network", timeoutMs: 5_000, signal, done: `the network is ${state}` },
        async () => {
          await session.forEachTab("network", {
            apply: (page) => emulateNetwork(session, page, { offline, headers, ...slow }),
            undo: (page) => emulateNetwork(session, page, { offline: false }),
          });
        },
      );
    },
  });
}

type Network = {
  offline: boolean;
  headers?: Record<string, string> | undefined;
  latency_ms?: number | undefined;
  download_kbps?: number | undefined;
  upload_kbps?: number | undefined;
};

/** Of the tab; what the browser does for all tabs of its context is the same for each of them. */
async function emulateNetwork(
  session: DrivenSession,
  page: Page,
  { offline, headers = {}, latency_ms, download_kbps, upload_kbps }: Network,
): Promise<void> {
  await page.context().setOffline(offline);
  await page.context().setExtraHTTPHeaders(headers);
  const cdp = await session.signals(page).cdp();
  await cdp?.send("Network.emulateNetworkConditions", {
    offline,
    latency: latency_ms ?? 0,
    downloadThroughput: bytesPerSecond(download_kbps),
    uploadThroughput: bytesPerSecond(upload_kbps),
  });
}

/** -1 is "no limit" in the DevTools protocol. */
function bytesPerSecond(kbps: number | undefined): number {
  return kbps === undefined ? -1 : (kbps * 1_000) / 8;
}
