import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const pages: Record<string, string> = {
  "/counter": `<title>counter</title><p id="m">December 2016</p><button onclick="m.textContent='November 2016'">Prev</button>
    <button>Rest</button>`,
  "/toast": `<title>toast</title><button onclick="const t=document.createElement('div');t.textContent='Saved';
    document.body.append(t);setTimeout(()=>t.remove(),300)">Save</button>`,
  "/toast-in-shadow": `<title>toast</title><x-toasts></x-toasts><button onclick="const t=document.createElement('div');t.textContent='Saved';
    toasts.append(t);setTimeout(()=>t.remove(),300)">Save</button><script>
    const toasts=document.querySelector('x-toasts').attachShadow({mode:'open'})</script>`,
  "/toast-with-shadow": `<title>toast</title><button onclick="const t=document.createElement('x-toast');
    t.attachShadow({mode:'open'}).innerHTML='<p>Saved</p>';document.body.append(t);setTimeout(()=>t.remove(),300)">Save</button>`,
  "/chart": `<title>chart</title><canvas width=200 height=100></canvas><button onclick="this.textContent+='!'">Draw</button>`,
  "/plain": "<title>plain</title><p>It works</p><p>Build 12</p>",
  "/long": `<title>long</title><a href="/other">Other</a>${"<p>One of many texts.</p>".repeat(20)}`,
  "/other": `<title>other</title><button>Only</button>${"<p>One of many texts.</p>".repeat(20)}`,
  "/blob": `<title>blob</title><button onclick="get()">Export</button><script>async function get(){
    const answer=await fetch('/file',{headers:{authorization:'Bearer x'}});const a=document.createElement('a');
    a.href=URL.createObjectURL(await answer.blob());a.download='orders.csv';a.click()}</script>`,
  "/attachment": `<title>attachment</title><button onclick="get()">Export</button><script>async function get(){
    await fetch('/file',{headers:{authorization:'Bearer x'}});location.href='/file'}</script>`,
};

let server: Awaited<ReturnType<typeof serve>>;
let product: Product;
let anna: TestClient;
let session_id: unknown;
beforeAll(async () => {
  server = await serve((request, response) => {
    const page = pages[request.url ?? ""];
    if (page !== undefined) response.setHeader("content-type", "text/html").end(page);
    else response.setHeader("content-disposition", 'attachment; filename="orders.csv"').end("a;b");
  });
  product = await openProduct("devices: [{ name: web, model: web }]");
  anna = await product.connect({ principal: "anna", client: "a" });
  ({ session_id } = (await anna.call("take_control", { device_id: "web" })).structured);
});
afterAll(async () => {
  await product.dispose();
  await server.close();
});

async function act(command: string, params: object): Promise<string> {
  const reply = await anna.call("execute_device_action", { session_id, actions: [{ command, params }] });
  return reply.text.replaceAll("\\n", "\n");
}
const open = (path: string) => act("navigate_to_url", { url: `${server.url}${path}` });
const click = (selector: string) => act("click_element", { selector });

it("a click's reply has the text that changed", async () => {
  await open("/counter");
  expect(await click("Prev")).toMatch(/~ e\d+ paragraph \\?"November 2016\\?", was \\?"December 2016\\?"/);
  expect(await click("Rest")).toContain("nothing changed");
});

it.each([
  "/toast",
  "/toast-in-shadow",
  "/toast-with-shadow",
])("a message that was gone before the reply is told: %s", async (page) => {
  await open(page);
  expect(await click("Save")).toMatch(/shown for a moment: \\?"Saved\\?"/);
});

it("a page without elements gives its texts", async () => {
  expect(await open("/plain")).toMatch(/no elements; texts: \\?"It works\\?" \\?"Build 12\\?"/);
});

it("after a full look, another page is listed in short", async () => {
  await open("/long");
  await anna.call("dump_ui_elements", { session_id, interactive_only: false });
  const reply = await click("Other");
  expect(reply).toContain("Only");
  expect(reply).not.toContain("One of many texts");
});

it.each(["/blob", "/attachment"])("a download after an authenticated request is told: %s", async (path) => {
  await open(path);
  expect(await click("Export")).toContain("orders.csv");
});

it("what is shown and not read is said once of a page, and in every snapshot that is asked for", async () => {
  const note = "Shown, but not read: a canvas";
  expect(await open("/chart")).toContain(note);
  expect(await click("Draw")).not.toContain(note);
  expect((await anna.call("dump_ui_elements", { session_id })).text).toContain(note);
});
