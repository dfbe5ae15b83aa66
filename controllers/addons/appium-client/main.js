import { AsyncLocalStorage } from "node:async_hooks";
import { getDefaultResultOrder, setDefaultResultOrder } from "node:dns";
import { bounded, sessionIn } from "./answers.js";

const order = getDefaultResultOrder();
const { remote } = await import("webdriverio");
// The package sets the order of addresses for the whole process.
setDefaultResultOrder(order);

/** The call that is under way: what cancels it, the bounds of its answer, and what the server answered. */
const calls = new AsyncLocalStorage();

/** A picture of an 8K screen in base64, or the page source of a heavy screen. */
const usualBytes = 64_000_000;
const longestSaid = 2_000;

/**
 * Opens a session of a WebDriver server. `call` runs a command of the protocol by its name in WebdriverIO. A failure that the
 * server reported has `answer`: the HTTP status, and the error and message of W3C WebDriver. One whose answer is not used
 * has `problem`, the reason. Nothing is sent twice, and nothing to another origin.
 */
export async function openSession({ url, headers, capabilities, longestMs, signal }) {
  const { origin, protocol, hostname, port, pathname, searchParams } = new URL(url);
  const isSecure = protocol === "https:";
  const session = await asked({ origin, signal, isOpening: true }, () =>
    remote({
      protocol: isSecure ? "https" : "http",
      hostname,
      port: port === "" ? (isSecure ? 443 : 80) : Number(port),
      path: pathname,
      queryParams: Object.fromEntries(searchParams),
      headers,
      capabilities,
      logLevel: "silent",
      enableDirectConnect: false,
      connectionRetryCount: 0,
      connectionRetryTimeout: longestMs,
      transformRequest: guarded,
      transformResponse: remembered,
    }),
  );
  return {
    id: session.sessionId,
    capabilities: session.capabilities,
    call: (command, args, callSignal, mostBytes) =>
      asked({ origin, signal: callSignal, mostBytes }, () => session[command](...args)),
  };
}

async function asked(call, work) {
  try {
    return await calls.run(call, work);
  } catch (error) {
    // The error of the package holds the request, and with it the user and key.
    throw Object.assign(new Error(error.message), { answer: call.answer, problem: call.problem });
  }
}

function guarded(request) {
  const call = calls.getStore();
  const signals = [request.signal, call?.signal].filter((signal) => signal !== undefined);
  const report = (error) => {
    call.problem ??= error.message;
  };
  const { origin, mostBytes = usualBytes } = call;
  // The one packing that is unpacked within bounds.
  request.headers.set("accept-encoding", "gzip");
  let dispatcher;
  // WebdriverIO sets it after this.
  return Object.defineProperty({ ...request, signal: AbortSignal.any(signals) }, "dispatcher", {
    enumerable: true,
    get: () => bounded(dispatcher, { origin, mostBytes, report }),
    set: (given) => {
      dispatcher = given;
    },
  });
}

const said = (text) => (typeof text === "string" ? text.slice(0, longestSaid) : undefined);

function remembered(response) {
  const call = calls.getStore();
  const { error, message } = response.body?.value ?? {};
  if (response.statusCode >= 400 || typeof error === "string")
    call.answer = { status: response.statusCode, error: said(error), message: said(message) };
  else if (call.isOpening) return { ...response, body: openedBy(response, call) };
  return response;
}

/** The first answer of a session that opens. */
function openedBy({ body }, call) {
  call.isOpening = false;
  const session = sessionIn(body);
  if (session === undefined) call.problem = "no session";
  return session ?? {};
}
