import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startWebos } from "../lab/tv/remotes/webos.ts";
import { run, temporaryFolder } from "./fixtures.ts";

const data = temporaryFolder();
afterAll(() => data.remove());

it("labwright tv pair stores the TV's token for this user alone, shows it nowhere, and names what is wrong", async () => {
  const tv = await startWebos();
  const config = join(data.path, "labwright.yaml");
  await writeFile(
    config,
    `devices:
  - { name: lounge, model: stb, controllers: { webos: { address: 127.0.0.1, port: ${tv.port}, secure: false } } }
  - { name: box, model: simulated }
`,
  );
  const given = ["--data-dir", data.path, "--config", config];
  const pair = (device: string) => run(["tv", "pair", device, ...given]);
  const paired = await pair("lounge");
  expect(paired).toMatchObject({
    code: 0,
    out: expect.stringContaining("Paired lounge (webos)"),
    err: expect.stringContaining("accept it"),
  });
  expect(paired.out + paired.err).not.toContain(tv.tv.key);
  const file = join(data.path, "pairings", "lounge.webos.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ token: tv.tv.key });
  expect(await pair("loung")).toMatchObject({ code: 2, err: expect.stringContaining("lounge") });
  expect(await pair("box")).toMatchObject({ code: 2, err: expect.stringContaining("webos and samsung") });
  tv.tv.accepts = false;
  tv.tv.key = "";
  expect(await pair("lounge")).toMatchObject({
    code: 2,
    err: expect.stringContaining("DEVICE_UNAUTHORIZED"),
  });
  await tv.close();
  expect(await pair("lounge")).toMatchObject({ code: 2, err: expect.stringContaining("DEVICE_OFFLINE") });
});
