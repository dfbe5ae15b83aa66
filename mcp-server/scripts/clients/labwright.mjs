// Calls Labwright's tools from a script that execute_script runs:
//   const { call } = await import(process.env.LABWRIGHT_CLIENT);
// Run as a program it is the command `labwright call`.
import { realpathSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { fileURLToPath } from "node:url";

/** A call that failed; `hint` is the next step to try. */
export class LabwrightError extends Error {
  constructor({ code = "INTERNAL", message = "", hint = "", details = {} }) {
    super(`${code}: ${message} ${hint}`.trim());
    Object.assign(this, { name: "LabwrightError", code, hint, details });
  }
}

/** The tool's result. Without a device, the script's own is used. */
export async function call(tool, args = {}) {
  const answer = JSON.parse(await post("/call", JSON.stringify({ tool, arguments: args })));
  if (!answer.success) throw new LabwrightError(answer.error);
  return answer.result;
}

/** Like `call`, for a tool that starts a run: goes on waiting until the run has ended. */
export async function run(tool, args = {}) {
  const wait_ms = 600_000;
  let result = await call(tool, { wait_ms, ...args });
  while (result.status === "queued" || result.status === "running")
    result = await call("get_execution_status", { execution_id: result.execution_id, wait_ms });
  if (["actions", "navigation"].includes(result.kind) && result.status !== "passed")
    throw new LabwrightError(result.reason ?? {});
  return result;
}

/** Says how the script ended, "passed" or "failed"; the last call counts. */
export function result(status, { message, outputs = {} } = {}) {
  writeFileSync(process.env.LABWRIGHT_RESULT, JSON.stringify({ labwright: { status, message, outputs } }));
}

function post(path, body) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const options = { socketPath: process.env.LABWRIGHT_SOCKET, path, method: "POST", headers };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const usage = "usage: labwright call TOOL [--json '{...}'] [--device ID] [name=value ...]\n";

/** `name=value` is text unless the value is JSON, such as 5, true or [1]. */
function readArguments(words) {
  const args = {};
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === "--json") Object.assign(args, JSON.parse(words[++i]));
    else if (word === "--device") args.device_id = words[++i];
    else if (/^\w+=/.test(word))
      args[word.slice(0, word.indexOf("="))] = valueIn(word.slice(word.indexOf("=") + 1));
    else throw new SyntaxError(`cannot read "${word}"`);
  }
  return args;
}

function valueIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Exit codes of `labwright call`: 0 done, 1 the tool failed, 2 it could not be called. */
async function main([command, tool, ...words]) {
  if (command !== "call" || tool === undefined) return fail(usage, 2);
  let args;
  try {
    args = readArguments(words);
  } catch (error) {
    return fail(`INVALID_INPUT: ${error.message}\n${usage}`, 2);
  }
  try {
    process.stdout.write(`${JSON.stringify(await call(tool, args), null, 2)}\n`);
  } catch (error) {
    fail(`${error.message}\n`, ["INVALID_INPUT", "TOOL_NOT_FOUND"].includes(error.code) ? 2 : 1);
  }
}

function fail(text, code) {
  process.stderr.write(text);
  process.exitCode = code;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.slice(2));
