import { describe, expect, it } from "vitest";
import { frontOf } from "#controllers/android/ui/screenFacts.ts";
import { scanScreen } from "#controllers/phones/androidTree.ts";
import { toScreen } from "#controllers/screens/screen.ts";

type Attributes = Readonly<Record<string, string | boolean>>;

/** A node as `uiautomator dump` writes it. */
function node(className: string, bounds: string, attributes: Attributes = {}, ...children: string[]): string {
  const all = { class: className, package: "com.example", bounds, ...attributes };
  const written = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  return `<node ${written.join(" ")}>${children.join("")}</node>`;
}

const hierarchy = (...nodes: string[]) =>
  `<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation="0">${nodes.join("")}</hierarchy>UI hierchary dumped to: /dev/tty`;

function elementsOf(xml: string, byKeys = false) {
  const { roots } = scanScreen(xml) ?? {};
  if (!roots) throw new Error("There is no hierarchy.");
  const space = { width: 1080, height: 2400, rotation: 0 as const };
  return toScreen({ roots, space, app: "com.example", byKeys }).seen.map(({ element }) => element);
}

describe("the scanner of screens", () => {
  it("reads texts as they stand: entities, quotes, a > in a value, emoji", () => {
    const xml = hierarchy(
      node("T", "[0,0][10,10]", { text: "a &amp; b &lt;c&gt; &quot;d&quot; &#10;e > f &#128512;", id: "x" }),
    );
    expect(scanScreen(xml)?.roots[0]?.text).toBe('a & b <c> "d" \ne > f 😀');
  });

  const many = (count: number, text: string) => text.repeat(count);
  it.each([
    ["10,000 levels", many(10_000, '<node text="x">') + many(10_000, "</node>"), 1],
    ["a million tags without a quote", many(1_000_000, "<a>"), 1],
    ["a million tags of one attribute", many(1_000_000, '<a b="c"/>'), 20_000],
    [
      "a tag of a million attributes",
      `<node ${Array.from({ length: 1_000_000 }, (_, at) => `a${at}="b"`).join(" ")}/>`,
      1,
    ],
    [
      "entities within entities",
      `<!DOCTYPE x [<!ENTITY a "${many(1_000, "&b;")}">]><node text="&a;&b;"/>`,
      1,
    ],
    ["a quote without end", `<node text="${many(1_000_000, ">")}`, undefined],
    [
      "bounds of no number",
      '<node text="x" bounds="[NaN,1e999][-1,__proto__]" __proto__="y" constructor="z"/>',
      1,
    ],
  ])("reads no more of a hostile screen than it may: %s", (_what, inner, roots) => {
    const read = scanScreen(`<hierarchy rotation="0">${inner}</hierarchy>`);
    expect(read?.roots.length).toBe(roots);
    expect(JSON.stringify(read?.roots[0]?.bounds ?? 0)).not.toMatch(/null|e\d/);
  });

  it("reads the tags of the UiAutomator2 server, which are named after classes", () => {
    const xml = `<hierarchy rotation="1"><android.widget.Button class="android.widget.Button" text="OK" bounds="[1,2][3,4]"/></hierarchy>`;
    const screen = scanScreen(xml);
    expect(screen?.rotation).toBe(90);
    expect(screen?.roots[0]).toMatchObject({ text: "OK", bounds: { x: 1, y: 2, width: 2, height: 2 } });
  });

  it.each([
    "",
    "ERROR: null root node",
    "<hierarchy rotation",
    '<hierarchy><node text="unclosed',
  ])("finds no hierarchy in %j", (text) => expect(scanScreen(text)).toBeUndefined());

  it("cuts what is deeper than 200 levels and has more than 20,000 nodes, and says so", () => {
    const deep = hierarchy(`${"<node>".repeat(5_000)}${"</node>".repeat(5_000)}`);
    expect(scanScreen(deep)).toMatchObject({ isCut: true });
    const wide = hierarchy(node("T", "[0,0][1,1]").repeat(30_000));
    expect(scanScreen(wide)).toMatchObject({ isCut: true });
    expect(scanScreen(wide)?.roots).toHaveLength(20_000);
  });

  it("reads 5 MB, also of one flat list of texts, within a second", () => {
    const row = (at: number) =>
      node("android.widget.TextView", `[0,${at % 2_000}][1080,${(at % 2_000) + 40}]`, {
        text: `Row ${at} ${"x".repeat(150)}`,
        "resource-id": "com.example:id/row",
      });
    const rows = Array.from({ length: 19_000 }, (_, at) => row(at));
    const xml = hierarchy(node("android.widget.FrameLayout", "[0,0][1080,2400]", {}, ...rows));
    expect(xml.length).toBeGreaterThan(5_000_000);
    const started = performance.now();
    expect(elementsOf(xml)).toHaveLength(19_000);
    // Ten times what it takes on a machine with two cores: what grows with the square takes minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("elements of a screen", () => {
  const row = (title: string, summary: string, top: number, ...more: string[]) =>
    node(
      "android.widget.LinearLayout",
      `[0,${top}][1080,${top + 150}]`,
      { clickable: true, focusable: true },
      node("android.widget.TextView", `[40,${top}][900,${top + 70}]`, { text: title }),
      node("android.widget.TextView", `[40,${top + 80}][900,${top + 150}]`, { text: summary }),
      ...more,
    );

  it("makes one element of a row, called after its first text, in a scroll area called after its id", () => {
    const list = node(
      "androidx.recyclerview.widget.RecyclerView",
      "[0,200][1080,2400]",
      { scrollable: true, "resource-id": "com.android.settings:id/settings_list" },
      row("Network", "Wi-Fi, mobile", 200),
      row("Apps", "Recent apps", 400),
    );
    expect(elementsOf(hierarchy(list))).toMatchObject([
      { role: "list", name: "settings list", about: ["(name guessed)", "scrolls"], depth: 0 },
      { role: "listitem", name: "Network", text: "Network Wi-Fi, mobile", interactive: true, depth: 1 },
      { role: "listitem", name: "Apps", depth: 1 },
    ]);
  });

  it("takes the switch of a row as the row's own", () => {
    const inner = node("android.widget.Switch", "[900,200][1040,350]", { checkable: true, checked: true });
    expect(elementsOf(hierarchy(row("Wi-Fi", "On", 200, inner)))).toMatchObject([
      { role: "switch", name: "Wi-Fi", states: ["checked"] },
    ]);
  });

  it("knows a slider, which is not clickable, its value, and stars that only show something", () => {
    const slider = { focusable: true, "content-desc": "Volume", text: "40.0" };
    const nodes = [
      node("android.widget.SeekBar", "[0,0][1080,100]", slider),
      node("android.widget.TextView", "[0,200][400,300]", { text: "Speed" }),
      node("android.widget.SeekBar", "[0,310][1080,400]", { focusable: true, text: "2.0" }),
      row("Lamp", "40 €", 600, node("android.widget.RatingBar", "[500,600][700,700]", { text: "3.0" })),
    ];
    const form = node("android.widget.FrameLayout", "[0,0][1080,2400]", {}, ...nodes);
    expect(elementsOf(hierarchy(form))).toMatchObject([
      { role: "slider", name: "Volume", value: "40.0", interactive: true },
      { role: "text", name: "Speed" },
      { role: "slider", name: "Speed", value: "2.0", about: ["(name guessed)"] },
      { role: "button", name: "Lamp" },
    ]);
  });

  it("keeps a button in a row as an element of its own", () => {
    const button = node("android.widget.ImageButton", "[900,200][1040,350]", {
      clickable: true,
      "content-desc": "Delete",
    });
    expect(elementsOf(hierarchy(row("Milk", "2 l", 200, button)))).toMatchObject([
      { role: "button", name: "Milk", text: "Milk 2 l" },
      { role: "button", name: "Delete", depth: 1 },
    ]);
  });

  it("does not take the container of the whole screen for a row", () => {
    const root = node(
      "android.widget.FrameLayout",
      "[0,0][1080,2400]",
      { clickable: true },
      node("android.widget.TextView", "[0,0][1080,100]", { text: "Title" }),
      node("android.widget.Button", "[0,200][1080,300]", { text: "Go", clickable: true }),
    );
    expect(elementsOf(hierarchy(root))).toMatchObject([
      { role: "text", name: "Title", depth: 0 },
      { role: "button", name: "Go", depth: 0 },
    ]);
  });

  it("names a control without a text after its id, or a field after the text next to it, and says so", () => {
    const nodes = [
      node("android.widget.ImageButton", "[0,0][100,100]", {
        clickable: true,
        "resource-id": "com.example:id/btn_search",
      }),
      node("android.widget.TextView", "[0,300][400,350]", { text: "Your name" }),
      node("android.widget.EditText", "[0,360][400,450]", { text: "Ada", clickable: true }),
    ];
    const root = node("android.widget.LinearLayout", "[0,0][1080,2400]", {}, ...nodes);
    expect(elementsOf(hierarchy(root))).toMatchObject([
      { role: "button", name: "search", about: ["(name guessed)"] },
      { role: "text", name: "Your name" },
      { role: "textbox", name: "Your name", value: "Ada", about: ["(name guessed)"] },
    ]);
  });

  it("reads a field that shows its hint as empty", () => {
    const field = node("android.widget.EditText", "[0,0][400,90]", { text: "E-mail", hint: "E-mail" });
    expect(elementsOf(hierarchy(field))).toMatchObject([{ role: "textbox", name: "E-mail", value: "" }]);
  });

  it("reads the choice of a spinner, after its name", () => {
    const chosen = node("android.widget.TextView", "[0,0][400,90]", { text: "By price" });
    const spinner = { clickable: true, "content-desc": "Sort" };
    expect(
      elementsOf(hierarchy(node("android.widget.Spinner", "[0,0][400,90]", spinner, chosen))),
    ).toMatchObject([{ role: "combobox", name: "Sort", value: "By price" }]);
  });

  it("leaves out what lies beyond the screen, and cuts rects to it", () => {
    const nodes = [
      node("android.widget.TextView", "[0,2300][1080,2500]", { text: "half" }),
      node("android.widget.TextView", "[0,2500][1080,2600]", { text: "below" }),
    ];
    expect(elementsOf(hierarchy(...nodes))).toMatchObject([{ name: "half", rect: { height: 100 } }]);
  });

  it("offers focusable elements on a screen that only keys drive", () => {
    const card = node(
      "android.widget.FrameLayout",
      "[0,0][300,200]",
      { focusable: true, focused: true },
      node("android.widget.TextView", "[0,150][300,200]", { text: "News" }),
    );
    expect(elementsOf(hierarchy(card), true)).toMatchObject([
      { role: "button", name: "News", states: ["focused"], interactive: true },
    ]);
    expect(elementsOf(hierarchy(card))).toMatchObject([{ role: "text", interactive: false }]);
  });
});

it("the activity in front is that of the app that has the focus", () => {
  const text = [
    "  mCurrentFocus=Window{1a2b3c u0 com.example/com.example.Main}",
    "  mFocusedApp=ActivityRecord{7f3c1a0 u0 com.example.shop/.Cart t12}",
  ].join("\n");
  expect(frontOf(text)).toEqual({ packageName: "com.example.shop", activity: "com.example.shop.Cart" });
  expect(frontOf("  mCurrentFocus=Window{1a2b3c u0 NotificationShade}")).toEqual({
    packageName: "",
    activity: "",
  });
});
