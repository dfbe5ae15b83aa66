import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isAt, matchControls, readControls, shows } from "./labels.ts";

const here = dirname(fileURLToPath(import.meta.url));
const entry = (role: string, name: string) => ({ ref: "e1", role, name });
const at: [number, number] = [100, 20];
const control = (role: string, name: string, also: string[] = []) => ({ role, name, also, at });

describe("labels", () => {
  it("are forty and belong to the picture beside them", async () => {
    expect(await readControls(here)).toHaveLength(40);
  });

  it("match whole words, in the name or one of its other names", () => {
    expect(shows(entry("button", "Zoom in (Ctrl +)"), control("button", "zoom in"))).toBe(true);
    expect(shows(entry("button", "zooming"), control("button", "zoom"))).toBe(false);
    expect(shows(entry("link", "New tab"), control("button", "add flow", ["new tab"]))).toBe(true);
  });

  it("match a field only with a field", () => {
    expect(shows(entry("textbox", "Search flows"), control("textbox", "Search flows"))).toBe(true);
    expect(shows(entry("button", "Search flows"), control("textbox", "Search flows"))).toBe(false);
    expect(shows(entry("textbox", "Search flows"), control("button", "search"))).toBe(false);
  });

  it("are told by their place, but not from something that lies around several", () => {
    expect(isAt({ at }, { x: 90, y: 10, width: 30, height: 20 })).toBe(true);
    expect(isAt({ at }, { x: 90, y: 30, width: 30, height: 20 })).toBe(false);
    expect(isAt({ at }, { x: 0, y: 0, width: 1280, height: 40 })).toBe(false);
  });

  it("take one entry each, and give way where another entry would do", () => {
    const entries = [
      entry("clickable", "Flow 1"),
      entry("tab", "debug"),
      entry("clickable", "debug messages"),
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
