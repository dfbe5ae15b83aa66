import { expect, test } from "@playwright/test";

test.beforeEach(async ({ page }) => {
  await page.goto("/");
  await page.getByText("click here").click();
  await page.getByText("Sandwich").click();
  await expect(page.getByText("Symbol Name")).toBeVisible();
});

test("functions are sorted by their own time and by all of it", async ({ page }) => {
  const name = page.locator("tr:first-child > td:last-child");
  const total = page.locator("tr:first-child > td:first-child");
  await expect(page).toHaveTitle("perf-vertx-stacks-01-collapsed-all.txt - speedscope");
  await expect(name).toHaveText("hypercall_page_[k]");
  await expect(total).toHaveText("23 (8.1%)");
  await page.getByText("Total").click();
  await expect(name).toHaveText("java");
  await expect(total).toHaveText("285 (100%)");
});

test("a function is found by its name", async ({ page }) => {
  await page.keyboard.press("Control+f");
  await page.keyboard.type("HashMap");
  await expect(page.getByText("ConcurrentHashMap")).toBeVisible();
  await expect(page.getByText("SpinPause")).toBeHidden();
  await page.keyboard.press("Escape");
  await page.getByText("SpinPause").click();
  await expect(page.getByText("Callers")).toBeVisible();
  await expect(page.getByText("Callees")).toBeVisible();
});
