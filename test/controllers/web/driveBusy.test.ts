import { beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const never = new AbortController().signal;
/** A script that waits for an answer that never comes holds up its page as an endless loop does, and costs no core. */
const page = `<title>Busy</title><h1>Here</h1><button>Go</button><label>Name <input></label>
  <script>setTimeout(() => {
    const never = new XMLHttpRequest();
    never.open("GET", "/never", false);
    never.send();
  }, 300)</script>`;

describe("a page whose script never ends", () => {
  const site = shared(() =>
    serve((request, response) => {
      if (request.url === "/") response.setHeader("content-type", "text/html").end(page);
    }),
  );
  const device = shared(() => openWebDevice());
  beforeAll(async () => {
    await device.run("navigate_to_url", { url: `${site.url}/` });
    const probed = async () =>
      (await failureOf(device.run("wait_for", { text: "not there", timeout_ms: 300 }))).code;
    while ((await probed()) !== "PAGE_UNRESPONSIVE");
  });

  it("ends every check within its time, and says for how long the page is busy", async () => {
    const inputs: Record<string, object> = {
      element_exists: { selector: "Go" },
      element_visible: { selector: "css=button" },
      element_hidden: { selector: "//button" },
      element_text: { selector: "css=h1", text: "Here" },
      text_visible: { text: "Here" },
      title_matches: { title: "Busy" },
      element_count: { selector: "text=Go", count: 1 },
    };
    for (const [name, input] of Object.entries(inputs)) {
      const failure = await failureOf(device.check(name, input, { ms: 700 }));
      expect([name, failure.code]).toEqual([name, "PAGE_UNRESPONSIVE"]);
      expect(failure.message).toMatch(/busy for \d+ ms/);
      expect(Number(failure.details.busy_ms)).toBeGreaterThanOrEqual(300);
    }
  });

  it("ends every command, look, selector, screenshot and reading of the sensors", async () => {
    const { web } = device;
    const commands: [command: string, params: Record<string, unknown>][] = [
      ["click_element", { selector: "Go", timeout_ms: 600 }],
      ["input_text", { selector: "Name", text: "x", timeout_ms: 600 }],
      ["type_text", { text: "x", timeout_ms: 600 }],
      ["press_key", { key: "a", timeout_ms: 600 }],
      ["scroll", { timeout_ms: 600 }],
      ["tap_x_y", { x: 5, y: 5 }],
      ["execute_javascript", { script: "return 1", timeout_ms: 600 }],
      ["wait_for", { text: "never", timeout_ms: 600 }],
    ];
    const asked: [what: string, work: Promise<unknown>][] = [
      ["look", web.elements?.dump({ interactiveOnly: true }, never) ?? Promise.resolve()],
      ["selectors", web.elements?.selectors(["e1"], never) ?? Promise.resolve()],
      ["screenshot", web.screen?.capture({}, never) ?? Promise.resolve()],
      ["sensors", web.sensors?.sensors(never) ?? Promise.resolve()],
    ];
    const failures = asked.map(async ([what, work]) => [what, (await failureOf(work)).code]);
    // Commands follow each other, as on any device, while the snapshots wait.
    for (const [command, params] of commands)
      expect([command, (await failureOf(device.run(command, params))).code]).toEqual([
        command,
        "PAGE_UNRESPONSIVE",
      ]);
    expect(await Promise.all(failures)).toEqual(asked.map(([what]) => [what, "PAGE_UNRESPONSIVE"]));
  });

  it("ends reload, and leaves a device that can be used again", async () => {
    const failure = await failureOf(device.run("reload", { timeout_ms: 1_500 }));
    expect(failure.code).toBe("PAGE_UNRESPONSIVE");
    await device.run("load_storage_state", {});
    await device.show("<title>Again</title>");
    expect(await device.js("return document.title")).toBe("Again");
  });
});

describe("a page that answers", () => {
  const device = shared(() => openWebDevice());

  it("is not called busy when a command is not done in time", async () => {
    await device.show("<p>Here</p>");
    const late = await failureOf(device.run("wait_for", { text: "not there", timeout_ms: 300 }));
    expect(late.code).toBe("COMMAND_TIMEOUT");
    const script = device.run("execute_javascript", {
      script: "await new Promise(() => {})",
      timeout_ms: 300,
    });
    expect((await failureOf(script)).code).toBe("COMMAND_TIMEOUT");
  });

  it("is not called busy while a server keeps it waiting", async () => {
    const silent = await serve(() => undefined);
    try {
      for (const before of ["about:blank", "data:text/html,<p>Here</p>"]) {
        await device.run("navigate_to_url", { url: before });
        const failure = await failureOf(
          device.run("navigate_to_url", { url: silent.url, timeout_ms: 2_000 }),
        );
        expect([before, failure.code]).toEqual([before, "NAVIGATION_FAILED"]);
      }
    } finally {
      await silent.close();
    }
  });

  it("is no longer marked when its script has ended", async () => {
    await device.show("<p>Here</p>");
    // Begun when the page is open: what a slow machine does late cannot use up the time.
    await device.js("setTimeout(() => { const t = Date.now() + 3000; while (Date.now() < t); }, 500)");
    const codes: string[] = [];
    const ask = async () => {
      const answer = device.check("text_visible", { text: "Here" }, { ms: 700 });
      codes.push(
        await answer.then(
          ({ holds }) => String(holds),
          ({ code }) => code,
        ),
      );
      return codes.join(" ");
    };
    await expect.poll(ask, { timeout: 20_000, interval: 50 }).toMatch(/PAGE_UNRESPONSIVE true/);
  });
});
