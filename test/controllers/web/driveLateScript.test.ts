import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

let page = "";
let startScript: ((script: string) => void) | undefined;
let asked: () => void;
const site = shared(() =>
  serve(({ url }, response) => {
    if (url !== "/late.js") return response.setHeader("content-type", "text/html").end(page);
    startScript = (script) => response.setHeader("content-type", "text/javascript").end(script);
    return asked();
  }),
);
const device = shared(() => openWebDevice());
beforeAll(() => writeFile(join(device.folder, "cv.txt"), "text"));

/** Opens a page whose script is still on its way. */
async function show(html: string) {
  page = `<!doctype html><script async src=late.js></script><body>${html}<p id=done>`;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  await device.run("navigate_to_url", { url: site.url });
  await isAsked;
}
/** The script arrives and runs, while no one acts. */
async function later(script: string) {
  startScript?.(`${script}; done.textContent = "done"`);
  await device.run("wait_for", { text: "done" });
}
const rest = () => device.web.untilUsable?.(new AbortController().signal);
const send = () => device.run("click_element", { selector: "Send" });

const fields = `<form id=form onsubmit="return false"><input id=f><input type=checkbox id=box><input type=radio id=radio>
  <select id=s><option>A<option>B</select><textarea id=area></textarea><div id=rich contenteditable></div>
  <input type=range id=slider min=0 max=10 value=3><input type=file id=file></form>
  <p id=state>Loading</p><button onclick="document.title = f.value || 'empty'">Send</button>`;
const inputs: [string, Record<string, unknown>][] = [
  ["input_text", { selector: "#f", text: "Ada" }],
  ["type_text", { selector: "#f", text: "Ada" }],
  ["input_text", { selector: "#area", text: "Ada\nLovelace" }],
  ["input_text", { selector: "#rich", text: "Ada" }],
  ["set_checked", { selector: "#box" }],
  ["set_checked", { selector: "#radio" }],
  ["select_option", { selector: "#s", option: "B" }],
  ["set_slider", { selector: "#slider", value: 7 }],
  ["upload_file", { selector: "#file", files: ["cv.txt"] }],
];
const lateScripts: [string, string][] = [
  ["resets the form", "form.reset(); rich.textContent = ''"],
  [
    "draws the form anew",
    "const html = form.innerHTML; form.innerHTML = ''; form.innerHTML = html; rich.textContent = ''",
  ],
];

describe.each(lateScripts)("a script that starts late and %s", (_, script) => {
  it.each(inputs)("%s %j: the next action does not go on without it", async (command, params) => {
    await show(fields);
    await device.run(command, params);
    await rest();
    await later(`${script}; state.textContent = 'Ready'`);
    expect(await failureOf(send())).toMatchObject({
      code: "INPUT_NOT_TAKEN",
      message: expect.stringMatching(/script starts late/),
    });
    expect(await device.js("return document.title")).toBe("");
    await device.run(command, params);
    await send();
  });
});

describe("an input that a late script takes back", () => {
  it.each(inputs)("%s %j: is reported when the page rests", async (command, params) => {
    await show(fields);
    await device.run(command, params);
    await later("form.reset(); rich.textContent = ''");
    await expect(rest()).rejects.toMatchObject({ code: "INPUT_NOT_TAKEN" });
    await send();
  });

  it("is reported of an earlier field also where the later ones stay", async () => {
    await show(`${fields}<input id=other>`);
    await device.run("input_text", { selector: "#f", text: "Ada" });
    await device.run("input_text", { selector: "#other", text: "Lovelace" });
    await later("form.reset()");
    expect((await failureOf(send())).message).toMatch(/filled #f/);
  });

  it.each([
    ["grant_permissions", { permissions: ["notifications"] }],
    ["set_geolocation", { latitude: 52, longitude: 13 }],
  ] as [
    string,
    Record<string, unknown>,
  ][])("is reported after %s, which leaves the page as it is", async (command, params) => {
    await show(fields);
    await device.run("input_text", { selector: "#f", text: "Ada" });
    await device.run(command, params);
    await later("form.reset()");
    expect((await failureOf(send())).code).toBe("INPUT_NOT_TAKEN");
  });

  it("is reported in a frame", async () => {
    await show(`<iframe srcdoc="<input id=f>"></iframe><button>Send</button>`);
    await device.run("input_text", { selector: "#f", text: "Ada" });
    await later("document.querySelector('iframe').contentDocument.querySelector('input').value = ''");
    expect((await failureOf(send())).code).toBe("INPUT_NOT_TAKEN");
  });

  it("is reported of a page that listens already, and says nothing about it", async () => {
    await show(
      `<div><input id=f></div><button>Send</button><script>f.addEventListener("input", () => {})</script>`,
    );
    await device.run("input_text", { selector: "#f", text: "Ada" });
    await later("f.value = ''");
    expect((await failureOf(send())).code).toBe("INPUT_NOT_TAKEN");
  });
});

describe("a field that the app rightly changes is not lost", () => {
  const ways: [string, Record<string, unknown>][][] = [
    [["type_text", { selector: "#f", text: "hello\n" }]],
    [
      ["input_text", { selector: "#f", text: "hello" }],
      ["press_key", { selector: "#f", key: "Enter" }],
    ],
  ];
  it.each(ways.map((steps) => [steps]))("after Enter: %j", async (steps) => {
    await show(`<input id=f onkeydown="if (event.key === 'Enter') sent = true"><button>Send</button>`);
    for (const [command, params] of steps) await device.run(command, params);
    await later("f.value = ''");
    await rest();
    await send();
  });

  it("after a click that sends it", async () => {
    await show(fields);
    await device.run("input_text", { selector: "#f", text: "hello" });
    await send();
    await later("f.value = ''");
    await rest();
    await send();
  });

  it("because another choice depends on it", async () => {
    await show(`<select id=city><option>Any<option>Rome</select><select id=land onchange="city.value = 'Any'"><option>Any<option>Italy</select>
      <input type=radio name=r id=one><input type=radio name=r id=two><button>Send</button>`);
    await device.run("select_option", { selector: "#city", option: "Rome" });
    await device.run("select_option", { selector: "#land", option: "Italy" });
    await device.run("set_checked", { selector: "#one" });
    await device.run("set_checked", { selector: "#two" });
    await rest();
    await send();
  });

  it.each([
    ["5.0", "5"],
    ["1234", "1,234.00"],
    ["12 main st", "12 Main Street, Springfield"],
  ])("in another form: %s as %s", async (text, held) => {
    await show(`<input id=f value=5><button>Send</button>`);
    await device.run("input_text", { selector: "#f", text });
    await later(`f.value = ${JSON.stringify(held)}`);
    await rest();
    await send();
  });

  it.each([
    ["says why", "said.textContent = 'Wrong code'"],
    ["made a tag of it", "said.textContent = '0000'"],
    ["sent it on", "fetch('/', { method: 'POST' })"],
  ])("because the page heard it and %s", async (_, script) => {
    await show(`<p>Code <input id=f oninput=""><b id=said></b></p><button>Send</button>`);
    await device.run("input_text", { selector: "#f", text: "0000" });
    await later(`${script}; f.value = ''`);
    await rest();
    await send();
  });

  it("before the page is left", async () => {
    await show(fields);
    await device.run("input_text", { selector: "#f", text: "hello" });
    await later("f.value = ''");
    await show("<p>other</p>");
  });
});
