import { createServer } from "node:net";
import { listenOn } from "./listen.ts";

/** An iTach: takes codes on connector 1:1 and confirms each by its id. */
export async function startGlobalCache() {
  const sent: string[] = [];
  const faults = { isSilent: false, isBusy: false };
  const answerTo = (line: string): string => {
    const [, connector, id, code = ""] = /^sendir,(\d:\d),(\d+),(.+)$/.exec(line) ?? [];
    if (line === "getversion") return "version,0,710-1005-05\r";
    if (connector === undefined) return "unknowncommand,14\r";
    if (connector !== "1:1" || code.startsWith("99")) return `ERR_${connector},003\r`;
    if (faults.isBusy) return `busyIR,${connector},${id}\r`;
    sent.push(code);
    return faults.isSilent ? "" : `completeir,${connector},${id}\r`;
  };
  const server = createServer((socket) => {
    let text = "";
    socket.on("data", (data) => {
      const lines = (text + String(data)).split("\r");
      text = lines.pop() ?? "";
      for (const line of lines) {
        socket.write(answerTo(line));
      }
    });
  });
  return { sent, faults, ...(await listenOn(server)) };
}
