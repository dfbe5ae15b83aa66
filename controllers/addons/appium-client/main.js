import { AsyncLocalStorage } from "node:async_hooks";
import { getDefaultResultOrder, setDefaultResultOrder } from "node:dns";

const order = getDefaultResultOrder();
const { remote } = await import("webdriverio");
// The package sets the order of addresses for the whole process.
setDefaultResultOrder(order);

/** What a call that is under way is cancelled by, and what the server answered to it. */
const calls = new AsyncLocalStorage();

/**
 * Opens a session of a WebDriver server. `call` runs a command of the protocol by its name in WebdriverIO. A failure that the
 * server reported has `answer`: the HTTP status, and the error and message of W3C WebDriver. Nothing is sent twice.
 */
export async function openSession({ url, headers, capabilities, longestMs, signal }) {
  const { protocol, hostname, port, pathname, searchParams } = new URL(url);
  const isSecure = protocol === "https:";
  const session = await asked(signal, () =>
    remote({
      protocol: isSecure ? "https" : "http",
      hostname,
      port: port === "" ? (isSecure ? 443 : 80) : Number(port),
      path: pathname,
      queryParams: Object.fromEntries(searchParams),
      headers,
      capabilities,
      logLevel: "silent",
      connectionRetryCount: 0,
      connectionRetryTimeout: longestMs,
      transformRequest: cancellable,
      transformResponse: remembered,
    }),
  );
  return {
    id: session.sessionId,
    capabilities: session.capabilities,
    call: (command, args, callSignal) => asked(callSignal, () => session[command](...args)),
  };
}

async function asked(signal, work) {
  const call = { signal, answer: undefined };
  try {
    return await calls.run(call, work);
  } catch (error) {
    // The error of the package holds the request, and with it the user and key.
    throw Object.assign(new Error(error.message), { answer: call.answer });
  }
}

function cancellable(request) {
  const signals = [request.signal, calls.getStore()?.signal].filter((signal) => signal !== undefined);
  return { ...request, signal: AbortSignal.any(signals) };
}

function remembered(response) {
  const call = calls.getStore();
  const { error, message } = response.body?.value ?? {};
  const isFailure = response.statusCode >= 400 || typeof error === "string";
  if (call !== undefined && isFailure) call.answer = { status: response.statusCode, error, message };
  return response;
}
