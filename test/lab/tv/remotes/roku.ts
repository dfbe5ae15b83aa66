import { createServer } from "node:http";
import { listenOn } from "./listen.ts";

/** A Roku as its External Control Protocol shows it: apps, the one in front, and the keys that came. */
export async function startRoku() {
  const keys: string[] = [];
  const faults = { isSilent: false, isLimited: false };
  let front = "0";
  const apps = [
    { id: "12", name: "Netflix", version: "4.1.218" },
    { id: "13", name: "Tom &amp; Co", version: "1.0" },
  ];
  const appTag = ({ id, name, version }: (typeof apps)[number]) =>
    `<app id="${id}" subtype="ndka" type="appl" version="${version}">${name}</app>`;
  const answers: Record<string, () => string> = {
    "/query/device-info": () =>
      `<?xml version="1.0"?><device-info><vendor-name>Roku</vendor-name><model-name>Roku Ultra</model-name><software-version>14.0.4</software-version><serial-number>X004</serial-number></device-info>`,
    "/query/apps": () => `<?xml version="1.0"?><apps>${apps.map(appTag).join("\n")}</apps>`,
    "/query/active-app": () => {
      const app = apps.find(({ id }) => id === front);
      return `<?xml version="1.0"?><active-app>${app ? appTag(app) : "<app>Roku</app>"}</active-app>`;
    },
  };
  const press = (what: string, name: string) => {
    if (what === "launch") front = name;
    else keys.push(what === "keypress" ? name : `${what} ${name}`);
    if (name === "Home") front = "0";
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    if (faults.isLimited) return void response.writeHead(403).end();
    const [, what, name = ""] = /^\/(keypress|keydown|keyup|launch)\/(.+)$/.exec(path) ?? [];
    // What a Roku answers to a key that it does not know.
    if (name === "Odd") return void response.writeHead(404).end();
    if (what !== undefined) {
      press(what, name);
      return void (faults.isSilent || response.end());
    }
    const answer = answers[path];
    if (answer) return void response.setHeader("content-type", "text/xml").end(answer());
    response.writeHead(404).end();
  });
  return { keys, faults, front: () => front, ...(await listenOn(server)) };
}
