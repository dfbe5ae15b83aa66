import { expect, test } from "@playwright/test";

test.beforeEach(({ page }) => page.goto("/examples/react/index.html"));

test("what is done leaves the active list", async ({ page }) => {
  const field = page.getByPlaceholder("What needs to be done?");
  await field.fill("Buy milk");
  await field.press("Enter");
  await field.fill("Water plants");
  await field.press("Enter");
  await expect(page.getByText("2 items left")).toBeVisible();
  await page.getByRole("listitem").filter({ hasText: "Buy milk" }).getByRole("checkbox").check();
  await expect(page.getByText("1 item left")).toBeVisible();
  await page.getByRole("link", { name: "Active" }).click();
  await expect(page.getByText("Water plants")).toBeVisible();
  await expect(page.getByText("Buy milk")).toBeHidden();
  await page.getByRole("link", { name: "Completed" }).click();
  await expect(page.getByText("Buy milk")).toBeVisible();
  await expect(page.getByText("Water plants")).toBeHidden();
});

test("an edit is kept, and cleared with what is done", async ({ page }) => {
  const field = page.getByPlaceholder("What needs to be done?");
  await field.fill("Call Bob");
  await field.press("Enter");
  await page.getByText("Call Bob").dblclick();
  await page.locator(".editing .edit").fill("Call Eve");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Call Eve")).toBeVisible();
  await expect(page.getByText("Call Bob")).toBeHidden();
  await page.reload();
  await expect(page.getByText("Call Eve")).toBeVisible();
  await page.locator("#toggle-all").check();
  await expect(page.getByText("0 items left")).toBeVisible();
  await page.getByRole("button", { name: "Clear completed (1)" }).click();
  await expect(page.getByText("Call Eve")).toBeHidden();
});
