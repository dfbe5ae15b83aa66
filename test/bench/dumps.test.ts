import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseEntries, refOf } from "./dumps.ts";
import { matchControls, readControls, shows } from "./labels.ts";

const ours = `http://127.0.0.1/login "Sign in" generation 1
e1 heading "Sign in"
textbox: e2 "Email" e3 "One-time code"
 e6 checkbox "Remember me" checked
~ f1e7 button "Sign in"
e9 clickable`;
const theirs = `- Page URL: http://127.0.0.1/login
- generic [ref=e4]:
  - link "Deploy" [ref=e8] [cursor=pointer]:
    - /url: "#"
    - text: common
  - generic [ref=e47]: inject`;

describe("dumps", () => {
  it("are read in our form", () => {
    expect(parseEntries(ours)).toEqual([
      { ref: "e1", role: "heading", name: "Sign in" },
      { ref: "e2", role: "textbox", name: "Email" },
      { ref: "e3", role: "textbox", name: "One-time code" },
      { ref: "e6", role: "checkbox", name: "Remember me" },
      { ref: "f1e7", role: "button", name: "Sign in" },
      { ref: "e9", role: "clickable", name: "" },
    ]);
  });

  it("are read where a reply has but one line of them", () => {
    expect(parseEntries('title: Sign in\nelements: e3 textbox "Password"')).toEqual([
      { ref: "e3", role: "textbox", name: "Password" },
    ]);
  });

  it("are read in theirs", () => {
    expect(parseEntries(theirs)).toEqual([
      { ref: "e4", role: "generic", name: "" },
      { ref: "e8", role: "link", name: "Deploy" },
      { ref: "", role: "text", name: "common" },
      { ref: "e47", role: "generic", name: "inject" },
    ]);
  });

  it("give the ref of a name, kept apart by role", () => {
    expect(refOf(ours, "One-time code")).toBe("e3");
    expect(refOf(ours, "Sign in", "button")).toBe("f1e7");
    expect(refOf(theirs, "Deploy")).toBe("e8");
    expect(() => refOf(ours, "Cancel")).toThrow("No ref");
  });
});

const here = dirname(fileURLToPath(import.meta.url));
const entry = (role: string, name: string) => ({ ref: "e1", role, name });
const control = (role: string, name: string, also: string[] = []) => ({ role, name, also });

describe("labels", () => {
  it("are forty and belong to their picture", async () => {
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
