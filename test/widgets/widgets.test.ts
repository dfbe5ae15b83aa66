import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openProduct, type Product } from "../fixtures/product.ts";
import type { Caller } from "./hands.ts";
import { heldOut } from "./heldOut.ts";
import { tenth, widgets } from "./list.ts";
import { serveWidgets, type WidgetSite } from "./site.ts";
import { judgeSettings, playOurs, upload } from "./stage.ts";
import { heldOutTasks, tasks } from "./tasks.ts";

const root = dirname(fileURLToPath(new URL("..", import.meta.url)));
let site: WidgetSite;
let product: Product;
let server: Caller;
let uploads: string;
beforeAll(async () => {
  uploads = await mkdtemp(join(tmpdir(), "labwright-widgets-"));
  await writeFile(join(uploads, upload.name), upload.text);
  site = await serveWidgets(root);
  const devices = [{ name: "browser", model: "web" }];
  const settings = Object.entries({ devices, ...judgeSettings(uploads) });
  product = await openProduct(
    settings.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join("\n"),
  );
  const client = await product.connect();
  server = {
    async call(name, args) {
      const reply = await client.call(name, { ...args });
      if (reply.isError) throw new Error(reply.text);
      return reply;
    },
  };
});
afterAll(async () => {
  await product.dispose();
  await site.close();
  await rm(uploads, { recursive: true, force: true });
});

describe("widgets that others wrote", () => {
  it("are forty of as many kinds, each with a task", () => {
    expect(widgets).toHaveLength(40);
    expect(new Set(widgets.map(({ kind }) => kind)).size).toBe(40);
    expect(Object.keys(tasks).toSorted()).toEqual(widgets.map(({ name }) => name).toSorted());
  });

  it("have ten of other kinds beside them, each with a task", () => {
    expect(heldOut).toHaveLength(10);
    expect(new Set([...widgets, ...heldOut].map(({ kind }) => kind)).size).toBe(50);
    expect(Object.keys(heldOutTasks).toSorted()).toEqual(heldOut.map(({ name }) => name).toSorted());
  });

  it("are pinned to the version that the list names", async () => {
    const file = await readFile(join(root, "test", "package.json"), "utf8");
    const pinned = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(file)).dependencies;
    for (const widget of [...widgets, ...heldOut])
      expect([widget.package, pinned[widget.package]]).toEqual([widget.package, widget.version]);
  });

  it.each(widgets.filter(({ name }) => tenth.includes(name)))("$kind, $package: $task", async (widget) => {
    expect(await playOurs(server, widget, site.url(widget.name))).toMatchObject({ done: true });
  });
});
