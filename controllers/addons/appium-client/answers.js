import { gunzip } from "node:zlib";

const mega = 1_000_000;
const deepest = 200;
const mostValues = 1_000_000;

/** An answer that is not used: why. */
export class BadAnswer extends Error {}

/**
 * A dispatcher of undici for one server. Its answers are bounded before they are parsed: `mostBytes` unpacked, 200 levels, a
 * million values. A request to another origin, as a redirect asks for, is not sent. `report` gets the BadAnswer.
 */
export const bounded = (dispatcher, { origin, mostBytes, report }) => ({
  dispatch(options, handler) {
    const fail = (why) => {
      const error = new BadAnswer(why);
      report(error);
      return error;
    };
    if (String(options.origin) !== origin) throw fail("a redirect to another address, which is not followed");
    return dispatcher.dispatch(options, read(handler, mostBytes, fail));
  },
});

/** The fetch of undici hears no error of a body that it has not begun to read. */
const later = setImmediate;

/** A handler of undici 6, whose fetch has its state on it. */
function read(handler, mostBytes, fail) {
  const shape = new Shape();
  let left = mostBytes;
  let packed;
  let failed;
  const tooLong = `more than ${mostBytes / mega} MB`;
  const whyNot = (bytes, isPacked) => {
    left -= bytes.length;
    if (left < 0) return tooLong;
    return isPacked ? undefined : shape.wrongAfter(bytes);
  };
  const stop = (request, why) => {
    failed = fail(why);
    later(() => request.abort(failed));
  };
  return Object.assign(Object.create(handler), {
    onHeaders(status, headers, ...rest) {
      const plain = [];
      for (let at = 0; at < headers.length; at += 2) {
        const coding = /^content-encoding$/i.test(String(headers[at])) ? String(headers[at + 1]) : "identity";
        if (/^gzip$/i.test(coding)) packed = [];
        else if (/^identity$/i.test(coding)) plain.push(headers[at], headers[at + 1]);
        else stop(this, "a packed body that was not asked for");
      }
      return handler.onHeaders.call(this, status, plain, ...rest);
    },
    onData(bytes) {
      if (failed !== undefined) return true;
      const why = whyNot(bytes, packed !== undefined);
      if (why !== undefined) {
        stop(this, why);
        return true;
      }
      if (packed === undefined) return handler.onData.call(this, bytes);
      packed.push(bytes);
      return true;
    },
    onComplete(trailers) {
      if (failed !== undefined) return later(() => handler.onError.call(this, failed));
      if (packed === undefined) return handler.onComplete.call(this, trailers);
      left = mostBytes;
      gunzip(Buffer.concat(packed), { maxOutputLength: mostBytes }, (error, bytes) => {
        const why =
          error?.code === "ERR_BUFFER_TOO_LARGE"
            ? tooLong
            : error
              ? "a body that is not gzip"
              : whyNot(bytes, false);
        if (why !== undefined) return handler.onError.call(this, fail(why));
        handler.onData.call(this, bytes);
        handler.onComplete.call(this, trailers);
      });
    },
  });
}

const [quote, backslash, comma] = Buffer.from('"\\,');
const opens = new Set(Buffer.from("[{"));
const closes = new Set(Buffer.from("]}"));

/** Counts levels and values of a JSON text as it arrives. Texts, nearly all of a large answer, are skipped by `indexOf`. */
class Shape {
  #level = 0;
  #values = 0;
  #isText = false;
  #isEscaped = false;

  /** What is wrong with the text up to here. */
  wrongAfter(bytes) {
    for (let at = 0; at < bytes.length; at++) {
      if (this.#isText) at = this.#textEnd(bytes, at);
      else this.#count(bytes[at]);
      if (this.#level > deepest) return `more than ${deepest} levels`;
      if (this.#values > mostValues) return `more than ${mostValues} values`;
    }
    return undefined;
  }

  #count(byte) {
    if (byte === quote) this.#isText = true;
    else if (byte === comma) this.#values++;
    else if (closes.has(byte)) this.#level--;
    else if (opens.has(byte)) {
      this.#level++;
      this.#values++;
    }
  }

  /** Where the text ends, or the end of `bytes`. */
  #textEnd(bytes, from) {
    let start = from;
    if (this.#isEscaped) start++;
    this.#isEscaped = false;
    for (;;) {
      const end = bytes.indexOf(quote, start);
      const until = end < 0 ? bytes.length : end;
      let escapes = 0;
      while (until - escapes > start && bytes[until - escapes - 1] === backslash) escapes++;
      const isEscaped = escapes % 2 === 1;
      if (end < 0) {
        this.#isEscaped = isEscaped;
        return until;
      }
      if (!isEscaped) {
        this.#isText = false;
        return end;
      }
      start = end + 1;
    }
  }
}

/** What is used of the capabilities of a session. Others could have WebdriverIO connect elsewhere, or end a process. */
const usedCapabilities =
  /^(?:appium:)?(?:platformName|automationName|browserName|device(?:Name|Model|Manufacturer|ScreenSize)|platformVersion)$/;
const sessionId = /^[\w.:@-]{1,300}$/;

/** The used part of the answer to a new session, in the form of W3C. Undefined where it is none. */
export function sessionIn(body) {
  const value = body?.value;
  const id = value?.sessionId ?? body?.sessionId;
  const capabilities = value?.capabilities ?? value;
  if (typeof id !== "string" || !sessionId.test(id) || typeof capabilities !== "object") return undefined;
  const used = Object.entries(capabilities ?? {}).filter(
    ([name, one]) => usedCapabilities.test(name) && typeof one === "string" && one.length <= 1_000,
  );
  return { value: { sessionId: id, capabilities: Object.fromEntries(used) } };
}
