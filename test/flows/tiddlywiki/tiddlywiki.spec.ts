import { expect, test } from "@playwright/test";

test.beforeEach(({ page }) => page.goto("/"));

test("a tiddler is written, tagged and found", async ({ page }) => {
  await page.getByRole("button", { name: "new tiddler" }).click();
  await page.locator(".tc-titlebar.tc-edit-texteditor").fill("Soup");
  await page.getByPlaceholder("tag name").fill("Recipe");
  await page.getByPlaceholder("tag name").press("Enter");
  const text = page.frameLocator("iframe").getByPlaceholder("Type the text for this tiddler");
  await text.fill("Onions and stock");
  await page.getByRole("button", { name: "Confirm changes to this tiddler" }).click();
  await expect(page.getByText("Onions and stock")).toBeVisible();
  await expect(page.locator("[data-tiddler-title=Soup] .tc-tag-label")).toHaveText("Recipe");
  await page.locator(".tc-search input").fill("onions");
  await expect(page.getByText("1 matches")).toBeVisible();
  await expect(page.locator(".tc-search-results a")).toHaveText("Soup");
});

test("a tiddler is renamed and thrown away", async ({ page }) => {
  const title = (of: string) =>
    page.locator(`[data-tiddler-title="Draft of '${of}'"] input.tc-titlebar`);
  const confirm = page.getByRole("button", { name: "Confirm changes to this tiddler" });
  const tiddler = (name: string) => page.locator(`[data-tiddler-title=${name}]`);
  await page.getByRole("button", { name: "new tiddler" }).click();
  await title("New Tiddler").fill("Draft");
  await confirm.click();
  await tiddler("Draft").getByRole("button", { name: "Edit this tiddler" }).click();
  await title("Draft").fill("Final");
  await confirm.click();
  await expect(tiddler("Final")).toBeVisible();
  await expect(tiddler("Draft")).toBeHidden();
  await tiddler("Final").getByRole("button", { name: "Edit this tiddler" }).click();
  await expect(title("Final")).toBeVisible();
  await page.getByRole("button", { name: "Delete this tiddler" }).click();
  await expect(tiddler("Final")).toBeHidden();
});
