import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import { byConversation } from "../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";
import { isShown, newAddress, openPage, startBrowser, views, violationsOf, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-agents-page-"));
const markup = '<img src=x onerror="document.body.remove()">';
/** An agent that deletes the test case that an event names. */
const keeper = `name: keeper
nickname: Keeper
description: Deletes what an event names.
mode: autonomous
system_prompt: You keep the test cases tidy.
available_skills: [edit-testcases]
triggers: [{ event: shop.cleanup, priority: high, skill: edit-testcases }]
config: { max_parallel_tasks: 4 }
`;

let model: MessagesApi;
let daemon: DaemonProcess;
let browser: Browser;
beforeAll(async () => {
  model = await startMessagesApi({
    respond: byConversation((firstText) => {
      const [, testcase] = /"testcase":"(\w+)"/.exec(firstText) ?? [];
      if (testcase === undefined)
        return Array(4)
          .fill([says(`I read: ${firstText} ${markup}`), says("And again."), says("It is at home.")])
          .flat();
      return [
        calls("delete_testcase", { testcase, confirm: true }),
        says("Tidied up."),
        says(JSON.stringify({ summary: `Looked after ${testcase}.`, problems: [] })),
      ];
    }),
  });
  const agents = join(folder, "agents");
  mkdirSync(agents);
  writeFileSync(join(agents, "keeper.yaml"), keeper);
  const config =
    "server: { name: lab }\ndevices: [{ name: box, model: simulated }, { name: box2, model: simulated }]\n";
  const env = {
    ...{ ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: model.url, LABWRIGHT_AGENTS_DIR: agents },
  };
  [browser, daemon] = await Promise.all([
    startBrowser(),
    startDaemonProcess({ dataDir: join(folder, "data"), config, env }),
  ]);
  expect((await daemon.call("import_userinterface", { yaml: boxYaml("horizon") })).error).toBeUndefined();
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

let cleanUps = 0;
/** Saves a test case and has the agent asked to delete it. */
async function cleanUp(testcase: string): Promise<void> {
  const steps = [{ press_key: { key: "HOME" } }, { text_visible: { text: "Home" } }];
  const saved = await daemon.call("save_testcase", { testcase: { name: testcase, fresh: false, steps } });
  expect(saved).toMatchObject({ success: true });
  await daemon.call("publish_event", { type: "shop.cleanup", payload: { testcase } });
}

/** In both sizes and schemes, and axe finds nothing serious. */
async function fits(page: Page) {
  for (const { colorScheme, ...size } of views) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    expect(await widthOver(page)).toBe(0);
    expect(await violationsOf(page, colorScheme)).toEqual([]);
  }
}

const isSaved = async (testcase: string) =>
  JSON.stringify((await daemon.call("list_testcases")).result).includes(`"${testcase}"`);

it("answers an autonomous agent's question, and shows what the agent did then", async () => {
  const testcase = `tidied${++cleanUps}`;
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/agents"));
  await page
    .getByRole("status")
    .filter({ hasText: /question|answer/ })
    .waitFor();
  await cleanUp(testcase);
  const question = page.getByRole("article").filter({ hasText: `"testcase": "${testcase}"` });
  await question.waitFor();
  const tasks = page.getByRole("region", { name: "Tasks" }).getByRole("listitem");
  const running = tasks.filter({ hasText: "running" }).getByRole("link").first();
  const address = await running.getAttribute("href");
  await fits(page);
  await question.getByRole("button", { name: "Approve" }).focus();
  await page.keyboard.press("Enter");
  await question.waitFor({ state: "detached" });
  await expect.poll(() => isSaved(testcase), within).toBe(false);

  const link = page.locator(`a[href="${address}"]`);
  await tasks.filter({ has: link }).getByText("done").waitFor();
  await link.click();
  await isShown(page, `"summary": "Looked after ${testcase}."`);
  await isShown(page, "delete_testcase: approved");
  await isShown(page, "Tidied up.");
  await isShown(page, /^Event: Event shop.cleanup/);
  expect(await page.getByText("JSON Schema").count()).toBe(0);
  await page.getByText("ended", { exact: true }).waitFor();
  await fits(page);
  expect(trouble).toEqual([]);
  await close();
});

it("talks with an agent, as text, and starts a task whose plan and end it shows", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/agents"));
  await page.getByRole("button", { name: "List the test cases" }).waitFor();
  await page.getByLabel("Ask an agent").fill("Show test case <b>one</b>");
  await page.keyboard.press("Enter");
  await isShown(page, `I read: Show test case <b>one</b> ${markup}`);
  await isShown(page, "Ended: done");
  expect(await page.locator("main b, main img").count()).toBe(0);
  await page.getByLabel("Your message").fill("Once more");
  await page.keyboard.press("Enter");
  await isShown(page, "And again.");
  await fits(page);

  await page.getByLabel("Your message").fill("Press key HOME");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "lab/box2" }).click();
  await isShown(page, "You: lab/box2");
  await isShown(page, "It is at home.");

  await page.getByRole("link", { name: "All conversations and tasks" }).click();
  await page.getByLabel("App, if any").fill("horizon");
  await page.getByLabel("Device, if not any").fill("box");
  await page.getByLabel(/Have a task done/).fill("go to Live and then check that Live is shown");
  await page.keyboard.press("Enter");
  const plan = page.getByRole("region", { name: "Plan" });
  await expect.poll(() => plan.getByText("completed").count(), within).toBe(2);
  await page.getByText("done", { exact: true }).waitFor();
  await fits(page);
  expect(trouble).toEqual([]);
  await close();
});

it("counts the first of two answers, and says to the other page that it came late", async () => {
  const opened = async (button: string) => ({
    ...(await openPage(browser, await newAddress(daemon, "/agents"))),
    button,
  });
  const pages = [await opened("Approve"), await opened("Refuse")] as const;
  const testcase = `disputed${++cleanUps}`;
  await cleanUp(testcase);
  const asked = pages.map(({ page, button }) => ({
    page,
    button: page.getByRole("article").filter({ hasText: testcase }).getByRole("button", { name: button }),
  }));
  await Promise.all(asked.map(({ button }) => button.waitFor()));
  const conversation = await pages[0].page
    .getByRole("article")
    .filter({ hasText: testcase })
    .getByRole("link")
    .getAttribute("href");
  await Promise.all(asked.map(({ button }) => button.click()));
  const late = async () =>
    await Promise.all(pages.map(({ page }) => page.getByText("HANDOFF_ANSWERED").isVisible()));
  await expect.poll(async () => (await late()).filter(Boolean).length, within).toBe(1);
  const isApproved = !(await late())[0];
  await pages[0].page.evaluate(`location.hash = ${JSON.stringify(conversation)}`);
  await isShown(pages[0].page, `delete_testcase: ${isApproved ? "approved" : "refused"}`);
  await isShown(pages[0].page, "Ended: done");
  expect(await isSaved(testcase)).toBe(!isApproved);
  for (const { close } of pages) await close();
});

it("answers an investigation's question in a person's words", async () => {
  const { page, close } = await openPage(browser, await newAddress(daemon, "/agents"));
  const begun = await daemon.call("start_investigation", { skill: "investigate-failure", context: {} });
  expect(begun.result).toMatchObject({ status: "waiting" });
  const question = page.getByRole("article", { name: /investigate-failure/ });
  await question.getByLabel("Answer in your words").fill("The box was unplugged");
  await page.keyboard.press("Enter");
  await question.waitFor({ state: "detached" });
  const { investigation_id } = begun.result;
  expect((await daemon.call("resume_investigation", { investigation_id })).result).toMatchObject({
    ...{ status: "done", result: { root_cause: "The box was unplugged" } },
  });
  await close();
});
