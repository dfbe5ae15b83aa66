import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const csv = "name;price\nTea;1.00\n";
const files: Record<string, (response: ServerResponse) => void> = {
  "/prices.csv": (response) => response.end(csv),
  "/picture.bin": (response) => response.end(Buffer.from([0, 1, 2, 255])),
  "/endless.bin": (response) => void response.write("x".repeat(100_000)),
  "/broken.bin": (response) => {
    response.setHeader("content-length", "1000");
    response.write("half", () => response.destroy());
  },
  "/large.bin": (response) => {
    response.setHeader("content-length", "50000000");
    response.write("x".repeat(100_000));
  },
};

const site = shared(() =>
  serve((request, response) => {
    const path = request.url ?? "";
    const file = files[path];
    if (file) {
      response.setHeader("content-disposition", `attachment; filename=${path.slice(1)}`);
      return file(response);
    }
    const links = [...Object.keys(files), "/denied.csv"].map((one) => `<a href="${one}">${one.slice(1)}</a>`);
    response.setHeader("content-type", "text/html").end(`<!doctype html>${links.join(" ")}`);
  }),
);
const device = shared(() => openWebDevice({ denyUrl: (url) => url.endsWith("/denied.csv") }));
beforeEach(async () => {
  await device.run("load_storage_state", {});
  await device.run("navigate_to_url", { url: `${site.url}/` });
});

const click = (name: string) => device.run("click_element", { selector: name });
const waitFor = (params: object) => device.run("wait_for_download", { timeout_ms: 5_000, ...params });
const check = (params: Record<string, unknown>) => device.check("download_received", params);
const sha256 = createHash("sha256").update(csv).digest("hex");

describe("wait_for_download", () => {
  it("gives name, size, digest and, when asked, the text of a file", async () => {
    await click("prices.csv");
    const { data } = await waitFor({ text: true });
    expect(data).toEqual({
      name: "prices.csv",
      url: `${site.url}/prices.csv`,
      bytes: csv.length,
      sha256,
      text: csv,
    });
  });

  it("gives each download once, the oldest first, or the one that is named", async () => {
    await click("prices.csv");
    await click("picture.bin");
    await click("prices.csv");
    expect((await waitFor({ name: "picture.bin", text: true })).data).toMatchObject({ bytes: 4, text: null });
    expect((await waitFor({})).data).toMatchObject({ name: "prices.csv" });
    expect((await waitFor({})).data).toMatchObject({ name: "prices.csv" });
    expect((await failureOf(waitFor({ timeout_ms: 100 }))).code).toBe("COMMAND_TIMEOUT");
  });

  it("says that none began, and what there was", async () => {
    await click("prices.csv");
    const failure = await failureOf(waitFor({ name: "other.csv", timeout_ms: 100 }));
    expect(failure.code).toBe("COMMAND_TIMEOUT");
    expect(failure.message).toMatch(/No download of "other.csv" began .* so far: prices.csv/);
  });

  it("says that one began and does not end", async () => {
    await click("endless.bin");
    const failure = await failureOf(waitFor({ timeout_ms: 300 }));
    expect([failure.code, failure.message]).toEqual([
      "COMMAND_TIMEOUT",
      expect.stringMatching(/"endless.bin" began, and has not ended within 300 ms/),
    ]);
  });

  it("says why one did not arrive", async () => {
    await click("broken.bin");
    expect(await failureOf(waitFor({}))).toMatchObject({
      code: "ACTION_REJECTED",
      message: expect.stringContaining("did not arrive"),
    });
    await click("large.bin");
    expect((await failureOf(waitFor({ name: "large.bin" }))).message).toContain("50000000 bytes, not kept");
  });

  it("says that the policy refused it", async () => {
    await click("denied.csv").catch((error: unknown) => expect(error).toHaveProperty("code", "URL_DENIED"));
    expect((await failureOf(waitFor({ timeout_ms: 300 }))).code).toBe("URL_DENIED");
  });

  it("ends when its call is cancelled", async () => {
    const controller = new AbortController();
    const waiting = device.run("wait_for_download", { timeout_ms: 60_000 }, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toThrow();
  });
});

describe("download_received", () => {
  it("holds for name, size, digest and text", async () => {
    await click("prices.csv");
    await waitFor({});
    for (const params of [
      {},
      { name: "prices.csv" },
      { name: "PRICES", match: "contains" },
      { bytes: csv.length, sha256: sha256.toUpperCase() },
      { min_bytes: 5, text: "tea;1.00" },
      { text: csv, text_match: "exact" },
    ])
      expect(await check(params)).toMatchObject({ holds: true, actual: "received: prices.csv" });
  });

  it("names what is other", async () => {
    expect(await check({})).toMatchObject({ holds: false, actual: "none was received", missing: "absent" });
    await click("prices.csv");
    await waitFor({});
    expect(await check({ name: "other.csv" })).toMatchObject({ holds: false, nearest: ["prices.csv"] });
    expect((await check({ bytes: 3 })).actual).toBe(`prices.csv: it has ${csv.length} bytes`);
    expect((await check({ sha256: "0".repeat(64) })).actual).toContain(sha256);
    expect((await check({ text: "coffee" })).actual).toContain("name;price");
  });

  it("does not hold for one that is on its way or did not arrive", async () => {
    await click("endless.bin");
    await expect.poll(async () => (await check({})).actual).toBe("endless.bin: it is still on its way");
    await click("broken.bin");
    await expect.poll(async () => (await check({ name: "broken.bin" })).actual).toContain("did not arrive");
  });
});
