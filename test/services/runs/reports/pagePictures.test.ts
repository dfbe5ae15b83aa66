import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { htmlReport, type Picture, type ReportEntry } from "#mcp-server/services/runs/reports/index.ts";
import { openReportBrowser, type ReportBrowser } from "./reportBrowser.ts";
import { because, ended, failedEntry, head, redPicture, shot, step } from "./samples.ts";

const red = ["artifact://aa", "artifact://bb"];
const pictures = new Map(red.map((uri) => [uri, redPicture]));

let browser: ReportBrowser;
beforeAll(async () => {
  browser = await openReportBrowser();
});
afterAll(() => browser.close());

const load = (...entries: ReportEntry[]) => browser.load(htmlReport(entries, head));
const find = (selector: string) => browser.page.locator(selector);
const onDesk = () => browser.page.setViewportSize({ width: 1280, height: 800 });

describe("pictures in the page", () => {
  const colourOf = async (selector: string) => {
    const png = await find(selector).first().screenshot();
    const { data } = await sharp(png)
      .resize(1, 1, { fit: "fill" })
      .raw()
      .toBuffer({ resolveWithObject: true });
    return [...data.subarray(0, 3)];
  };
  /** 100 x 50 pixels of blue. */
  const blue = async (): Promise<Picture> => ({
    mimeType: "image/png",
    bytes: await sharp({ create: { width: 100, height: 50, channels: 3, background: "#00f" } })
      .png()
      .toBuffer(),
    width: 100,
    height: 50,
  });

  test("stand once in the file, however many steps show them, and are seen there", async () => {
    const page = htmlReport(
      [failedEntry(pictures), { ...failedEntry(pictures), pictureChoice: "all" }],
      head,
    );
    expect(page.split("data:image/png;base64,")).toHaveLength(1 + red.length);
    await onDesk();
    expect(await browser.load(page)).toEqual([]);
    expect(await find("svg.shot").count()).toBeGreaterThan(6);
    const [r = 0, g = 255, b = 255] = await colourOf("svg.shot");
    expect(r).toBeGreaterThan(200);
    expect(Math.max(g, b)).toBeLessThan(100);
  });

  test("of steps that passed are there only when they are asked for", async () => {
    const shown = async (entry: ReportEntry) => {
      await load(entry);
      return find("details.step:has(> summary > .badge.good) svg.shot").count();
    };
    expect(await shown(failedEntry(pictures))).toBe(0);
    expect(await shown({ ...failedEntry(pictures), pictureChoice: "all" })).toBe(1);
  });

  test("of a failed check says what was expected and found, with a frame where the check saw it", async () => {
    const area = { x: 20, y: 10, width: 40, height: 20 };
    const output = {
      pass: false,
      expected: "the logo",
      actual: "another one",
      nearest: [],
      area,
      score: 0.61,
    };
    const check = step(0, {
      ...{ kind: "verification", status: "failed", output },
      artifacts: [shot("before", "artifact://aa"), shot("after", "artifact://cc")],
    });
    const entry = ended("framed", { status: "failed", ...because("VERIFICATION_FAILED") }, [check]);
    await onDesk();
    await load({ ...entry, pictures: new Map([...pictures, ["artifact://cc", await blue()]]) });
    const figure = find(".decision");
    const text = await figure.innerText();
    for (const words of ["Expected", "the logo", "Found", "another one", "61 %"])
      expect(text).toContain(words);
    const picture = await figure.locator("svg.shot:has(rect)").boundingBox();
    const frame = await figure.locator("rect").boundingBox();
    if (!picture || !frame) throw new Error("no frame on the picture");
    // The frame's line is a few pixels wide.
    expect((frame.x - picture.x) / picture.width).toBeCloseTo(0.2, 1);
    expect((frame.y - picture.y) / picture.height).toBeCloseTo(0.2, 1);
    expect(frame.width / picture.width).toBeCloseTo(0.4, 1);
    expect(await figure.locator("svg.shot:has(rect)").getAttribute("aria-label")).toBe("after");
  });

  test("that a walk's check judged comes first, with what that check expected", async () => {
    const verdict = { command: "image_visible", attempts: 1, elapsed_ms: 5, nearest: [] };
    const leg = step(0, {
      ...{ path: "", kind: "navigation", status: "failed", label: "Home → Cart" },
      output: {
        verdicts: [
          { ...verdict, pass: true, expected: "the cart", actual: "the cart", evidence: [] },
          { ...verdict, pass: false, expected: "the total", actual: "no total", evidence: ["artifact://bb"] },
        ],
      },
      artifacts: [shot("after", "artifact://aa")],
    });
    await load({ ...ended("walk", { status: "failed" }, [leg]), pictures });
    const text = await find(".decision").innerText();
    for (const words of ["the total", "no total", "judged"]) expect(text).toContain(words);
  });

  test("that are not kept any more are named", async () => {
    await load(failedEntry());
    expect(await find("body").innerText()).toContain("not in this file: artifact://bb");
  });
});
