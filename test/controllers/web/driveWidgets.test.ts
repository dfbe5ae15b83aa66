import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const site = shared(async () => {
  const folder = fileURLToPath(new URL("../../fixtures/widgets/", import.meta.url));
  const scripts = new Map<string, string>();
  for (const name of ["react", "imask"]) {
    const define = { "process.env.NODE_ENV": '"production"' };
    const made = await build({ entryPoints: [`${folder}${name}.js`], bundle: true, write: false, define });
    scripts.set(`/${name}.js`, made.outputFiles[0]?.text ?? "");
  }
  return serve((request, response) => {
    const script = scripts.get(request.url ?? "");
    response.setHeader("content-type", `text/${script ? "javascript" : "html"}; charset=utf-8`);
    response.end(script ?? `<!doctype html><body><script src="${request.url}.js"></script>`);
  });
});
const device = shared(() => openWebDevice({ settings: { locale: "en-US" } }));

const open = async (page: string, first: string) => {
  await device.run("navigate_to_url", { url: `${site.url}/${page}` });
  await device.run("wait_for", { selector: first });
};
const value = (id: string) => device.js(`return document.getElementById("${id}").value`);
const typing = ["input_text", "type_text"];

describe.each(typing)("%s in fields of React and IMask", (command) => {
  const fill = (id: string, text: string) =>
    device.run(command, { selector: `#${id}`, text, timeout_ms: 5_000 });

  it.each([
    ["react", "upper", "abc", "ABC"],
    ["react", "digits", "12", "12"],
    ["react", "date", "11/30/2026", "2026-11-30"],
    ["imask", "phone", "5551234567", "+1 (555) 123-4567"],
    ["imask", "amount", "1234567.5", "1,234,567.5"],
    ["imask", "day", "30.11.2026", "30.11.2026"],
    ["imask", "pin", "1234", "1234"],
  ])("%s: %s takes %s", async (page, id, text, held) => {
    await open(page, page === "react" ? "#upper" : "#phone");
    await fill(id, text);
    expect(await value(id)).toBe(held);
  });

  it.each([
    ["react", "fixed", "new"],
    ["react", "digits", "x1"],
    ["react", "fixedDate", "11/30/2026"],
    ["react", "late", "new"],
    ["imask", "day", "abc"],
    ["imask", "pin", "12345"],
    ["imask", "pin", "abcd"],
  ])("%s: %s does not take %s", async (page, id, text) => {
    await open(page, page === "react" ? "#upper" : "#phone");
    expect((await failureOf(fill(id, text))).code).toBe("INPUT_NOT_TAKEN");
  });
});

describe("boxes and lists of React", () => {
  it("that take a choice, and that do not", async () => {
    await open("react", "#upper");
    await device.run("set_checked", { selector: "#box" });
    await device.run("select_option", { selector: "#list", option: "Paid" });
    expect(await device.js("return [box.checked, list.value]")).toEqual([true, "Paid"]);
    const failures = [
      await failureOf(device.run("set_checked", { selector: "#fixedBox", timeout_ms: 5_000 })),
      await failureOf(
        device.run("select_option", { selector: "#fixedList", option: "Paid", timeout_ms: 5_000 }),
      ),
    ];
    expect(failures.map(({ code }) => code)).toEqual(["INPUT_NOT_TAKEN", "INPUT_NOT_TAKEN"]);
  });
});
