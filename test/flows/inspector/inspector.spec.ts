import { expect, test } from "@playwright/test";

test.beforeEach(({ page }) => page.goto("/"));

test("a tool is found and described", async ({ page }) => {
  await page.locator(".mantine-Switch-track").click();
  await page.getByText("Tools", { exact: true }).click();
  await expect(page.getByText("Select a tool to view details")).toBeVisible();
  await expect(page.getByText("Tools (25)")).toBeVisible();
  await page.getByPlaceholder("Search tools...").fill("tabs");
  await expect(page.getByText("browser_click")).toBeHidden();
  await page.getByRole("button", { name: "browser_tabs" }).click();
  await expect(page.getByText("List, create, close, or select a browser tab.")).toBeVisible();
  await expect(page.getByText("destructive")).toBeVisible();
  await expect(page.getByRole("button", { name: "Execute Tool" })).toBeDisabled();
});

test("a server is connected, its messages shown, and let go", async ({ page }) => {
  await expect(page.getByText("Disconnected")).toBeVisible();
  await page.locator(".mantine-Switch-track").click();
  await expect(page.getByText("MCP 2025-11-25")).toBeVisible();
  await expect(page.getByText("tools/list", { exact: true })).toBeVisible();
  await page.getByRole("textbox", { name: "Search", exact: true }).fill("initialize");
  await expect(page.getByText("tools/list", { exact: true })).toBeHidden();
  await page.getByRole("button", { name: "Disconnect from server" }).click();
  await expect(page.getByText("Disconnected")).toBeVisible();
  await expect(page.getByText("Messages", { exact: true })).toBeHidden();
});
