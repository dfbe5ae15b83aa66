import { expect, test } from "@playwright/test";

test.beforeEach(({ page }) => page.goto("/"));

test("a flow is renamed, deployed and still there", async ({ page }) => {
  const tabs = page.locator("#red-ui-workspace-tabs");
  await tabs.getByRole("link").first().dblclick();
  await page.getByRole("textbox", { name: "Name" }).fill("Heating");
  await page.getByRole("button", { name: "Done" }).click();
  await expect(tabs).toContainText("Heating");
  await page.getByRole("link", { name: "Deploy", exact: true }).click();
  await expect(page.getByText("Successfully deployed")).toBeVisible();
  await page.reload();
  await expect(tabs).toContainText("Heating");
  await expect(page).toHaveTitle("Node-RED : Heating");
});

test("nodes are imported and found", async ({ page }) => {
  await page.locator("#red-ui-header-button-sidemenu").click();
  await page.getByRole("link", { name: "Import" }).click();
  await expect(page.getByText("Paste flow json or")).toBeVisible();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Import" })).toBeDisabled();
  const json = '[{"id":"a1","type":"inject","name":"Every morning"}]';
  await dialog.locator("#red-ui-clipboard-dialog-import-text").pressSequentially(json);
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(page.getByText("Imported:")).toBeVisible();
  await page.locator("#red-ui-workspace-chart").click();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("morning");
  await expect(page.locator(".red-ui-search-result-node-label")).toContainText("Every morning");
  await expect(page.getByText("No matches found")).toBeHidden();
});
