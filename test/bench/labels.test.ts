import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { matchControls, readControls, shows } from "./labels.ts";

const here = dirname(fileURLToPath(import.meta.url));
const entry = (role: string, name: string) => ({ ref: "e1", role, name });
const control = (role: string, name: string, also: string[] = []) => ({ role, name, also });

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
