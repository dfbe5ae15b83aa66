import { chromium } from "playwright-core";
import { refOf } from "./dumps.ts";
import type { Measurement } from "./rows.ts";
import { browserArgs, type Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

/** A process keeps the speed that its start gave it, some ten percent off another's: the rounds are those of several. */
const sessions = 3;
const options = { rounds: 3, warmUps: 1 };
/** What takes some tens of milliseconds needs more rounds to stand out of the noise of a busy machine. */
export const shortOptions = { rounds: 31, warmUps: 10 };
const proof = "Only on the reached page";

/** What each side does; every function gives the reply's text. */
export type Driver = {
  /** The click's reply has only a link to a snapshot in a file: one more call, not timed, proves where it got. */
  looksAfterClick: boolean;
  open(url: string): Promise<string>;
  look(): Promise<string>;
  click(ref: string): Promise<string>;
  fill(ref: string, text: string): Promise<string>;
};

export function ourDriver(server: StdioServer): Driver {
  const act = async (command: string, params: object): Promise<string> =>
    (await server.call("execute_device_action", { actions: [{ command, params }] })).text;
  return {
    looksAfterClick: false,
    open: (url) => act("navigate_to_url", { url }),
    look: async () => (await server.call("dump_ui_elements", {})).text,
    click: (ref) => act("click_element", { ref }),
    fill: (ref, text) => act("input_text", { ref, text }),
  };
}

function theirs(server: StdioServer): Driver {
  const act = async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> =>
    (await server.call(name, args)).text;
  return {
    looksAfterClick: true,
    open: (url) => act("browser_navigate", { url }),
    look: () => act("browser_snapshot", {}),
    click: (target) => act("browser_click", { element: "link", target }),
    fill: (target, text) => act("browser_type", { element: "field", target, text }),
  };
}

/** Each call opens the small page, clicks its link and gives the milliseconds of the click, reply included. */
export function clicks(driver: Driver, url: (path: string) => string): () => Promise<number> {
  return async () => {
    await driver.open(url("/small"));
    const ref = refOf(await driver.look(), "Next page");
    const { ms, result } = await timed(() => driver.click(ref));
    const seen = driver.looksAfterClick ? await driver.look() : result;
    if (!seen.includes(proof))
      throw new Error(`The click's reply lacks "${proof}":\n${seen.slice(0, 1_000)}`);
    return ms;
  };
}

async function fills(driver: Driver, url: string): Promise<() => Promise<number>> {
  await driver.open(url);
  const ref = refOf(await driver.look(), "Name");
  let count = 0;
  return async () => (await timed(() => driver.fill(ref, `Ada ${++count}`))).ms;
}

async function plainClicks(
  executablePath: string,
  url: (path: string) => string,
): Promise<{ click(): Promise<number>; close(): Promise<void> }> {
  const browser = await chromium.launch({ executablePath, headless: true, args: [...browserArgs] });
  const page = await browser.newPage();
  return {
    async click() {
      await page.goto(url("/small"));
      await page.ariaSnapshot({ mode: "ai" });
      const { ms, result } = await timed(async () => {
        await page.getByRole("link", { name: "Next page" }).click();
        await page.waitForURL("**/reached");
        return await page.ariaSnapshot({ mode: "ai" });
      });
      if (!result.includes(proof)) throw new Error("Plain Playwright did not reach the page.");
      return ms;
    },
    close: () => browser.close(),
  };
}

/** Milliseconds of each round: ours, theirs and, of the click, plain Playwright's. */
type Times = { click: number[][]; fill: number[][]; look: number[][] };

async function measure(
  driverOurs: Driver,
  driverTheirs: Driver,
  plainClick: () => Promise<number>,
  url: (path: string) => string,
): Promise<Times> {
  const click = await alternate([clicks(driverOurs, url), clicks(driverTheirs, url), plainClick], options);
  const fill = await alternate(
    [await fills(driverOurs, url("/small")), await fills(driverTheirs, url("/small"))],
    shortOptions,
  );
  const look = await alternate(
    [async () => (await timed(driverOurs.look)).ms, async () => (await timed(driverTheirs.look)).ms],
    shortOptions,
  );
  return { click, fill, look };
}

/** Single actions in sessions that are already open, reply included. */
export async function measureInteraction(
  sides: Sides,
  url: (path: string) => string,
): Promise<Measurement[]> {
  const measured: Times[] = [];
  for (let session = 0; session < sessions; session++) measured.push(await measureSession(sides, url));
  const all = (of: keyof Times, side: number) => measured.flatMap((times) => times[of][side] ?? []);
  const row = (id: string, of: keyof Times, against = 1): Measurement => ({
    id,
    ours: median(all(of, 0)),
    theirs: median(all(of, against)),
    runs: all(of, 0).length,
    ratios: ratiosOf(all(of, 0), all(of, against)),
  });
  return [
    row("act.click", "click"),
    row("act.click_plain", "click", 2),
    row("act.fill", "fill"),
    row("act.snapshot", "look"),
  ];
}

async function measureSession(sides: Sides, url: (path: string) => string): Promise<Times> {
  const dataDir = await sides.newDataDir();
  const plain = await plainClicks(sides.browser, url);
  const servers = [sides.ours(dataDir), sides.theirs()] as const;
  try {
    for (const server of servers) await server.initialize();
    return await measure(ourDriver(servers[0]), theirs(servers[1]), plain.click, url);
  } finally {
    for (const server of servers) await server.end();
    await plain.close();
    await sides.stopDaemon(dataDir);
  }
}
