import { type AdbStream, writeTo } from "./stream.ts";

/** What leads from a device to its host: an endpoint here, such as `tcp:9999`, and the host's own. */
export type ReverseRules = {
  find(endpoint: string): string | undefined;
  /** Answers a service `reverse:` of the host, such as `forward:tcp:9999;tcp:8080`. */
  serve(request: string, stream: AdbStream): Promise<void>;
};

const firstFreePort = 40_000;

/** Text with its length before it, as four hexadecimal digits. */
const sized = (text: string) => Buffer.byteLength(text).toString(16).padStart(4, "0") + text;

export function reverseRules(): ReverseRules {
  const rules = new Map<string, string>();
  let freePort = firstFreePort;

  function add(request: string): string {
    const norebind = request.startsWith("norebind:");
    const [endpoint = "", target = ""] = request.replace("norebind:", "").split(";");
    if (norebind && rules.has(endpoint)) return `FAIL${sized("cannot rebind existing socket")}`;
    if (endpoint !== "tcp:0") {
      rules.set(endpoint, target);
      return "OKAY";
    }
    const port = freePort++;
    rules.set(`tcp:${port}`, target);
    return `OKAY${sized(String(port))}`;
  }

  function remove(endpoint: string): string {
    return rules.delete(endpoint) ? "OKAY" : `FAIL${sized(`listener '${endpoint}' not found`)}`;
  }

  function list(): string {
    return sized([...rules].map(([endpoint, target]) => `(reverse) ${endpoint} ${target}\n`).join(""));
  }

  function answer(request: string): string {
    const [action = "", rest = ""] = request.split(/:(.*)/s, 2);
    if (action === "forward") return add(rest);
    if (action === "killforward") return remove(rest);
    if (action === "list-forward") return list();
    if (action !== "killforward-all") return `FAIL${sized(`not a reverse forwarding command: ${request}`)}`;
    rules.clear();
    return "OKAY";
  }

  return {
    find: (endpoint) => rules.get(endpoint),
    serve: (request, stream) => {
      stream.accept();
      return writeTo(stream, answer(request));
    },
  };
}
