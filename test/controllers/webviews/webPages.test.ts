import { describe, expect, it } from "vitest";
import { scanScreen } from "#controllers/phones/androidTree.ts";
import { nodesBelow, type UiTree } from "#controllers/screens/tree.ts";
import type { PageLook } from "#controllers/webviews/pageReader.ts";
import { notDebuggable, WebPages } from "#controllers/webviews/webPages.ts";

const never = new AbortController().signal;

/** A screen with WebViews, each with its title and bounds as `[x,y][right,bottom]`. */
function screenWith(webViews: readonly [title: string, bounds: string][]): UiTree {
  const nodes = webViews.map(
    ([title, bounds]) =>
      `<node class="android.webkit.WebView" package="app" text="${title}" bounds="${bounds}"><node class="android.view.View" text="by accessibility" bounds="${bounds}"/></node>`,
  );
  const screen = scanScreen(`<hierarchy rotation="0">${nodes.join("")}</hierarchy>`);
  return { roots: screen?.roots ?? [], space: { width: 1080, height: 2400, rotation: 0 }, app: "app" };
}

const page = (title: string, more: Partial<PageLook> = {}): PageLook => ({
  wholeHeight: more.height ?? 200,
  ...{ title, isVisible: true, width: 100, height: 200, scrolls: false, isCut: false, foreign: 0 },
  nodes: [
    {
      ...{
        tag: "p",
        role: "text",
        id: "",
        name: "",
        text: `by ${title}`,
        hint: "",
        states: [],
        children: [],
      },
      rect: { x: 10, y: 20, width: 30, height: 40 },
    },
  ],
  ...more,
});

async function read(webViews: readonly [string, string][], looks: readonly unknown[]) {
  const asked: string[] = [];
  const port = {
    contexts: async () => ["NATIVE_APP"],
    read: async (context: string) => {
      asked.push(context);
      return looks;
    },
  };
  const pages = new WebPages(port, { usual: "auto", testId: () => undefined });
  const tree = await pages.addTo(screenWith(webViews), never);
  const texts = tree.roots.flatMap((root) => [...nodesBelow(root)]).filter(({ role }) => role !== "document");
  return {
    asked,
    notices: tree.notices,
    isCut: tree.isCut,
    texts: texts.map(({ text }) => text),
    rects: texts.map((one) => one.bounds),
  };
}

const whole = "[100,50][300,450]";

describe("a page takes the place of the nodes of the WebView that shows it", () => {
  it("in pixels of the screen", async () => {
    const { asked, texts, rects, notices } = await read([["a", whole]], [page("a")]);
    expect(asked).toEqual(["WEBVIEW_app"]);
    expect([texts, rects, notices]).toEqual([["by a"], [{ x: 120, y: 90, width: 60, height: 80 }], []]);
  });

  it("by its shape, where the app has several", async () => {
    const small = page("b", { height: 50 });
    const { texts } = await read(
      [
        ["a", whole],
        ["b", "[0,500][200,600]"],
      ],
      [small, page("a")],
    );
    expect(texts).toEqual(["by a", "by b"]);
  });

  it("by its title, where several have its shape", async () => {
    expect((await read([["b", whole]], [page("a"), page("b")])).texts).toEqual(["by b"]);
  });

  it("also while a keyboard covers a part of it", async () => {
    const { texts } = await read([["a", whole]], [page("a", { height: 110, wholeHeight: 200 })]);
    expect(texts).toEqual(["by a"]);
  });

  it("unless it is hidden", async () => {
    expect((await read([["a", whole]], [page("old", { isVisible: false }), page("a")])).texts).toEqual([
      "by a",
    ]);
  });
});

describe("what accessibility knows stays, and a notice says why, where", () => {
  it.each([
    ["several pages look like it", [page("a"), page("a")], "2 pages"],
    ["a part of it is off the screen", [page("a", { height: 300 })], "off the screen"],
    ["there is no page", [], "no page"],
    ["the page answers anything", [{ title: "a", nodes: "none" }], "no look"],
  ])("%s", async (_, looks, why) => {
    const { texts, notices } = await read([["a", whole]], looks);
    expect(texts).toEqual(["by accessibility"]);
    expect(notices).toEqual([expect.stringContaining(why)]);
  });
});

it("a page that was cut, and frames that cannot be read, are reported", async () => {
  const { notices, isCut } = await read([["a", whole]], [page("a", { isCut: true, foreign: 2 })]);
  expect(isCut).toBe(true);
  expect(notices).toEqual([expect.stringContaining("more than"), expect.stringContaining("other origins")]);
});

it("a page that could not be read is not asked for again at once, but for the next client it is", async () => {
  let asked = 0;
  const read = () => {
    asked += 1;
    return Promise.reject(notDebuggable("WEBVIEW_app", ["NATIVE_APP"]));
  };
  const pages = new WebPages({ contexts: async () => [], read }, { usual: "auto", testId: () => undefined });
  const look = () => pages.addTo(screenWith([["a", whole]]), never);
  const { notices } = await look();
  expect(notices).toEqual([expect.stringContaining("WEBVIEW_NOT_DEBUGGABLE")]);
  expect((await look()).notices).toEqual(notices);
  expect(asked).toBe(1);
  pages.handOver();
  await look();
  expect(asked).toBe(2);
});
