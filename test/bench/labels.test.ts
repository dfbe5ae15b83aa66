import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { matchControls, parseEntries, readControls, shows } from "./labels.ts";

const here = dirname(fileURLToPath(import.meta.url));
const control = (role: string, name: string, also: string[] = []) => ({ role, name, also });

describe("labels", () => {
  it("are forty and belong to the picture beside them", async () => {
    expect(await readControls(here)).toHaveLength(40);
  });

  it("are read from a dump of either side", () => {
    const dump = [
      'e12 button "Save" disabled',
      '  - link "Deploy" [ref=e8]:',
      "  - generic [ref=e47]: inject",
    ];
    expect(parseEntries(dump.join("\n"))).toEqual([
      { role: "button", name: "Save" },
      { role: "link", name: "Deploy" },
      { role: "generic", name: "inject" },
    ]);
  });

  it("leave out lines that name nothing and that nothing can be done with", () => {
    expect(parseEntries('Page "Editor"\n  - list [ref=e5]:\n  - heading "Title"')).toEqual([]);
  });

  it("match whole words, in the name or one of its other names", () => {
    expect(shows({ role: "button", name: "Zoom in (Ctrl +)" }, control("button", "zoom in"))).toBe(true);
    expect(shows({ role: "button", name: "zooming" }, control("button", "zoom"))).toBe(false);
    expect(shows({ role: "link", name: "New tab" }, control("button", "add flow", ["new tab"]))).toBe(true);
  });

  it("match a field only with a field", () => {
    expect(shows({ role: "textbox", name: "Search flows" }, control("textbox", "Search flows"))).toBe(true);
    expect(shows({ role: "button", name: "Search flows" }, control("textbox", "Search flows"))).toBe(false);
    expect(shows({ role: "textbox", name: "Search flows" }, control("button", "search"))).toBe(false);
  });

  it("take one entry each, and give way where another entry would do", () => {
    const entries = [
      { role: "clickable", name: "Flow 1" },
      { role: "tab", name: "debug" },
      { role: "clickable", name: "debug messages" },
    ];
    const controls = [
      control("node", "debug"),
      control("tab", "debug messages"),
      control("tab", "Flow 1"),
      control("treeitem", "Flow 1"),
    ];
    expect(matchControls(entries, controls).map(({ name }) => name)).toEqual([
      "debug",
      "debug messages",
      "Flow 1",
    ]);
  });
});
