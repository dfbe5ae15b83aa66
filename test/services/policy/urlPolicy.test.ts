import { DeviceError } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { createUrlPolicy } from "#mcp-server/services/policy/urlPolicy.ts";

const rules = (allow: string[] = [], deny: string[] = [], port: number | undefined = 7333) =>
  createUrlPolicy({ allow, deny }, { port: () => port });
const policy = rules();

function denied(run: () => void): DeviceError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof DeviceError && error.code === "URL_DENIED") return error;
    throw error;
  }
}
const isDenied = (url: string, by = policy) => denied(() => by.allowUrl(url)) !== undefined;
const addressIsDenied = (address: string, by = policy) =>
  denied(() => by.allowAddress(address)) !== undefined;

/** The same URL as people hide it: case, white space that the URL parser drops, user names. */
const disguises = (url: string) => {
  const at = Math.max(2, Math.floor(url.indexOf(":") / 2));
  return [
    url,
    url.toUpperCase(),
    `  ${url}\n`,
    `\u0000\u001f${url}`,
    `${url.slice(0, at)}\t${url.slice(at)}`,
    `${url.slice(0, at)}\r\n${url.slice(at)}`,
  ];
};

describe("by default", () => {
  it.each([
    "http://example.com/",
    "https://example.com:8443/a?b#c",
    "ws://example.com/socket",
    "wss://example.com/socket",
    "http://localhost:3000/",
    "http://127.0.0.1/",
    "http://[::1]:8080/",
    "http://10.0.0.5/",
    "http://192.168.1.1/",
    "http://172.16.0.9:9000/",
    "http://[fd00::1]/",
    "about:blank",
    "about:srcdoc",
    "blob:http://example.com/7c1c-uuid",
  ])("allows %s", (url) => {
    expect(isDenied(url)).toBe(false);
  });

  it.each([
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "chrome://settings",
    "devtools://devtools/bundled/x.html",
    "javascript:alert(1)",
    "view-source:http://example.com/",
    "filesystem:http://example.com/temporary/x",
    "data:text/html,hi",
    "ftp://example.com/",
    "tel:123",
    "intent://scan/#Intent;end",
    "about:config",
    "edge://version",
    "blob:file:///x",
    "blob:null/uuid",
    "blob:http://169.254.169.254/uuid",
  ])("denies %s in every disguise", (url) => {
    for (const text of disguises(url)) expect(isDenied(text), JSON.stringify(text)).toBe(true);
  });

  it.each([
    "169.254.169.254",
    "169.254.0.1",
    "2852039166",
    "0xa9fea9fe",
    "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376",
    "169.16689662",
    "169.254.43518",
    "①⑥⑨.254.169.254",
    "169。254。169。254",
    "169.254.169.254.",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "[::a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    "[fe80::1]",
    "[febf::1]",
    "[fd00:ec2::254]",
    "[fd00:0ec2:0:0::0254]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "metadata.google.internal",
    "METADATA.google.INTERNAL.",
    "metadata",
    "user:pw@169.254.169.254",
    "example.com@169.254.169.254",
    "169.254.169.254:8080",
  ])("denies link-local and metadata addresses: http://%s/", (host) => {
    for (const scheme of ["http", "https", "ws"]) {
      for (const text of disguises(`${scheme}://${host}/latest/meta-data`)) {
        expect(isDenied(text), JSON.stringify(text)).toBe(true);
      }
    }
  });

  it("denies every spelling of every link-local address", () => {
    for (let i = 0; i < 500; i++) {
      const [c, d] = [(i * 131) % 256, (i * 197) % 256];
      const number = ((169 * 256 + 254) * 256 + c) * 256 + d;
      const hex = (n: number) => n.toString(16);
      const spellings = [
        `169.254.${c}.${d}`,
        String(number),
        `0x${hex(number)}`,
        `0${number.toString(8)}`,
        `0xa9.254.0${c.toString(8)}.${d}`,
        `[::ffff:${hex(169 * 256 + 254)}:${hex(c * 256 + d)}]`,
      ];
      for (const host of spellings) expect(isDenied(`http://${host}/`), host).toBe(true);
    }
  });

  it("does not deny the neighbours of what is denied", () => {
    for (const host of [
      "169.253.255.255",
      "169.255.0.0",
      "[fec0::1]",
      "100.100.100.201",
      "metadata.example.com",
    ]) {
      expect(isDenied(`http://${host}/`), host).toBe(false);
    }
  });

  it("denies what is not an absolute URL", () => {
    for (const url of ["", "   ", "example.com", "//example.com/", "http://", "http://[::1", "/etc/passwd"]) {
      expect(isDenied(url), JSON.stringify(url)).toBe(true);
    }
  });
});

describe("our own port", () => {
  it("is denied in every spelling of this machine, and only there", () => {
    const hosts = [
      "127.0.0.1",
      "127.9.9.9",
      "localhost",
      "LOCALHOST.",
      "a.localhost",
      "[::1]",
      "0.0.0.0",
      "0",
      "[::]",
      "2130706433",
      "0x7f.1",
      "[::ffff:127.0.0.1]",
    ];
    for (const host of hosts) {
      expect(isDenied(`http://${host}:7333/mcp`), host).toBe(true);
      expect(isDenied(`http://${host}:7334/`), host).toBe(false);
    }
    expect(isDenied("http://example.com:7333/")).toBe(false);
  });

  it("is known by the scheme when the URL does not name it", () => {
    expect(isDenied("http://localhost/", rules([], [], 80))).toBe(true);
    expect(isDenied("https://localhost/", rules([], [], 80))).toBe(false);
  });

  it("is denied for addresses with a port", () => {
    expect(addressIsDenied("127.0.0.1:7333")).toBe(true);
    expect(addressIsDenied("[::1]:7333")).toBe(true);
    expect(addressIsDenied("127.0.0.1:80")).toBe(false);
    expect(addressIsDenied("127.0.0.1")).toBe(false);
  });
});

describe("addresses", () => {
  it.each([
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "169.254.169.254:80",
    "",
    "example.com",
  ])("denies %s", (address) => {
    expect(addressIsDenied(address)).toBe(true);
  });
  it.each([
    "93.184.216.34",
    "10.0.0.1",
    "::1",
    "2606:2800:220:1::1",
    "[2606:2800:220:1::1]:443",
  ])("allows %s", (address) => {
    expect(addressIsDenied(address)).toBe(false);
  });
});

describe("rules of the configuration", () => {
  it("allow nothing else once something is allowed, and deny wins", () => {
    const own = rules(
      ["*.example.com", "localhost:3000"],
      ["admin.example.com", "https://www.example.com/logout*"],
    );
    expect(isDenied("https://www.example.com/", own)).toBe(false);
    expect(isDenied("http://LOCALHOST:3000/", own)).toBe(false);
    expect(isDenied("http://localhost:3001/", own)).toBe(true);
    expect(isDenied("https://example.com/", own)).toBe(true);
    expect(isDenied("https://evilexample.com/", own)).toBe(true);
    expect(isDenied("https://www.example.com.evil.org/", own)).toBe(true);
    expect(isDenied("https://admin.example.com/", own)).toBe(true);
    expect(isDenied("https://admin.example.com./", own)).toBe(true);
    expect(isDenied("https://www.example.com/logout?now", own)).toBe(true);
    expect(isDenied("about:blank", own)).toBe(false);
    expect(isDenied("blob:https://www.example.com/id", own)).toBe(false);
    expect(isDenied("blob:https://other.org/id", own)).toBe(true);
  });

  it("never lift what is always denied", () => {
    const wide = rules(["*", "*://*", "169.254.0.0/16"]);
    expect(isDenied("http://169.254.169.254/", wide)).toBe(true);
    expect(isDenied("file:///etc/passwd", wide)).toBe(true);
    expect(addressIsDenied("169.254.169.254", wide)).toBe(true);
    expect(isDenied("http://anything.example/", wide)).toBe(false);
  });

  it("take networks for hosts given as addresses and for what names resolve to", () => {
    const own = rules([], ["10.0.0.0/8", "2001:db8::/32"]);
    expect(isDenied("http://10.1.2.3/", own)).toBe(true);
    expect(isDenied("http://[::ffff:10.1.2.3]/", own)).toBe(true);
    expect(isDenied("http://11.1.2.3/", own)).toBe(false);
    expect(addressIsDenied("10.1.2.3", own)).toBe(true);
    expect(addressIsDenied("2001:db8::5", own)).toBe(true);
  });

  it("are refused when they cannot be read", () => {
    for (const pattern of ["http://", "a b", "10.0.0.0/40", "host:port", "?"]) {
      expect(() => rules([pattern]), pattern).toThrow();
    }
  });
});

describe("one place in several spellings", () => {
  it.each([
    ["localhost:3000", "http://127.0.0.1:3000/"],
    ["localhost:3000", "http://[::1]:3000/"],
    ["localhost:3000", "http://a.localhost:3000/"],
    ["127.0.0.1:3000", "http://localhost.:3000/"],
    ["[::1]:3000", "http://0.0.0.0:3000/"],
    ["http://app.localhost:3000/*", "http://2130706433:3000/x"],
    ["127.0.0.0/8", "http://localhost:3000/"],
    ["0x0a.5:80", "http://10.0.0.5/"],
    ["10.0.0.5:80", "http://[::ffff:10.0.0.5]/"],
    ["https://shop.test/admin*", "https://SHOP.test.//%61dmin/x"],
    ["https://shop.test/admin*", "https://shop.test/x%2F..%2fadmin"],
    ["https://shop.test/a//b", "https://shop.test/a/b"],
  ])("deny %s denies %s, and allow allows it", (pattern, url) => {
    expect(isDenied(url, rules([], [pattern]))).toBe(true);
    expect(isDenied(url, rules([pattern]))).toBe(false);
  });

  it.each([
    ["localhost:3000", "http://localhost:3001/"],
    ["a.localhost:3000", "http://b.localhost:3000/"],
    ["https://*.shop.test/*", "https://evil.test/.shop.test/"],
    ["https://shop.test/app/*", "https://shop.test/app/..%2Fadmin"],
    ["https://shop.test/app/*", "https://shop.test/app/%2e%2e/admin"],
  ])("allow %s does not allow %s", (pattern, url) => {
    expect(isDenied(url, rules([pattern]))).toBe(true);
    expect(isDenied(url, rules([], [pattern]))).toBe(false);
  });

  it("counts for what a proxy sees: a host with its port, or an address that a name resolves to", () => {
    const hostIsDenied = (host: string, port: number, by = policy) =>
      denied(() => by.allowHost(host, port)) !== undefined;
    const own = rules(
      ["shop.test", "https://app.test/part/*", "localhost:*"],
      ["localhost:3000", "https://shop.test/x*"],
    );
    expect(hostIsDenied("shop.test", 443, own)).toBe(false);
    expect(hostIsDenied("app.test", 443, own)).toBe(false);
    expect(hostIsDenied("app.test", 8443, own)).toBe(true);
    expect(hostIsDenied("other.test", 443, own)).toBe(true);
    expect(hostIsDenied("::1", 3000, own)).toBe(true);
    expect(hostIsDenied("127.0.0.1", 7333, own)).toBe(true);
    expect(hostIsDenied("169.254.169.254", 80)).toBe(true);
    expect(addressIsDenied("127.0.0.1:3000", own)).toBe(true);
    expect(addressIsDenied("127.0.0.1:3001", own)).toBe(false);
    const needsBrowser = (...deny: string[]) => rules([], deny).hasPathRules;
    expect([own.hasPathRules, needsBrowser("wss://shop.test/*")]).toEqual([true, true]);
    const seenByProxy = [[], ["https://shop.test/*"], ["http://shop.test/*", "http://app.test/part/*"]];
    expect(seenByProxy.map((deny) => needsBrowser(...deny))).toEqual([false, false, false]);
  });
});

it("shows neither credentials nor the query of what it denies", () => {
  const error = denied(() => policy.allowUrl("http://user:hunter22@169.254.169.254/x?token=abcdef"));
  expect(error?.message).not.toMatch(/hunter22|abcdef/);
  expect(error?.message).toContain("url_policy in labwright.yaml");
});
