import { findBrowser } from "@labwright/controllers";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";

export type ReportBrowser = {
  page: Page;
  /** Loads a page with the network off and gives what it asked for, ran or complained of. */
  load(html: string): Promise<string[]>;
  close(): Promise<void>;
};

/** A real browser that reads reports. */
export async function openReportBrowser(options: BrowserContextOptions = {}): Promise<ReportBrowser> {
  const path = findBrowser({ headless: true })?.path;
  const browser = await chromium.launch({ ...(path && { executablePath: path }), args: ["--no-sandbox"] });
  const page = await browser.newPage(options);
  let trouble: string[] = [];
  page.on("console", (message) => trouble.push(message.text()));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return {
    page,
    async load(html) {
      trouble = [];
      await page.unrouteAll();
      await page.route("**/*", (route) => {
        const url = route.request().url();
        if (url === "http://report.test/") return route.fulfill({ contentType: "text/html", body: html });
        trouble.push(`asked for ${url.slice(0, 60)}`);
        return route.abort();
      });
      await page.goto("http://report.test/", { waitUntil: "load" });
      return trouble.filter((line) => !line.includes("favicon"));
    },
    close: () => browser.close(),
  };
}
