import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@labwright/mcp-server";
import { afterAll, describe, expect, it, test } from "vitest";
import { maskAddresses } from "#mcp-server/services/policy/maskAddresses.ts";
import { createSecrets, givenSecrets } from "#mcp-server/services/policy/secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const password = 'p@ss/w+rd "ü" <&>';

function codeOf(run: () => unknown): { code: string; message: string; hint: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("reading", () => {
  it("takes values from a variable, a file without its last line end, and LABWRIGHT_SECRET_, which wins", () => {
    const file = join(folder, "key");
    writeFileSync(file, "from-file\n");
    const secrets = createSecrets(
      { A: { env: "MY_A" }, B: { file }, C: { env: "MY_C" } },
      {
        MY_A: "from-env",
        MY_C: "configured",
        LABWRIGHT_SECRET_C: "direct-c",
        LABWRIGHT_SECRET_D: "direct-d",
      },
    );
    expect(secrets.fill("{{secret.A}} {{ secret.B }} {{secret.C}} {{secret.D}}")).toBe(
      "from-env from-file direct-c direct-d",
    );
  });

  it("names every secret that has no value or too short a one, never the value, and stops only what needs it", () => {
    const secrets = createSecrets(
      { A: { env: "NONE" }, B: { file: join(folder, "none") }, C: { env: "SHORT" } },
      { SHORT: "xyz", LABWRIGHT_SECRET_D: "", LABWRIGHT_SECRET_E: "right" },
    );
    expect(secrets.problems()).toEqual([
      "A: variable NONE is not set or empty",
      expect.stringMatching(/^B: file .* is not set or empty$/),
      "C: variable SHORT is shorter than 4 characters",
      "D: LABWRIGHT_SECRET_D is not set or empty",
    ]);
    expect(secrets.fill("{{secret.E}}")).toBe("right");
    expect(codeOf(() => secrets.check("{{secret.C}}"))).toMatchObject({
      code: "SECRET_NOT_FOUND",
      message: expect.stringMatching(/"C".*SHORT is shorter/),
    });
    secrets.checkNames("{{secret.C}}");
    expect(codeOf(() => secrets.checkNames("{{secret.CC}}")).code).toBe("SECRET_NOT_FOUND");
  });
});

describe("the secrets of a run", () => {
  const variables = { WIKI_PW: "as-it-was", LABWRIGHT_SECRET_KEY: "daemon-key" };

  it("are those of who asks for it, above the server's own, and hidden as long as it runs", async () => {
    const secrets = createSecrets({ WIKI: { env: "WIKI_PW" } }, variables);
    let run = secrets.hold();
    await secrets.within({ WIKI: "wrong" }, async () => {
      run = secrets.hold();
      await Promise.resolve();
      expect(secrets.fill("{{secret.WIKI}} {{secret.KEY}}")).toBe("wrong daemon-key");
    });
    expect(secrets.fill("{{secret.WIKI}}")).toBe("as-it-was");
    expect(run.run(() => secrets.fill("{{secret.WIKI}}"))).toBe("wrong");
    expect(secrets.mask("it is wrong, not as-it-was")).toBe("it is [secret WIKI], not [secret WIKI]");
    run.release();
    expect(secrets.mask("it is wrong, not as-it-was")).toBe("it is wrong, not [secret WIKI]");
  });

  it("of several at a time are kept apart", async () => {
    const secrets = createSecrets({ WIKI: { env: "WIKI_PW" } }, variables);
    const filled = ["first-one", "second-one"].map((value) =>
      secrets.within({ WIKI: value }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return secrets.fill("{{secret.WIKI}}");
      }),
    );
    expect(await Promise.all(filled)).toEqual(["first-one", "second-one"]);
  });

  it("are read from their files when it starts", async () => {
    const file = join(folder, "changing");
    writeFileSync(file, "first-value\n");
    const secrets = createSecrets({ FILE: { file } }, {});
    await secrets.within({}, async () => {
      writeFileSync(file, "second-value\n");
      expect(secrets.fill("{{secret.FILE}}")).toBe("first-value");
    });
    await secrets.within({}, () => expect(secrets.fill("{{secret.FILE}}")).toBe("second-value"));
    expect(secrets.mask("first-value second-value")).toBe("[secret FILE] [secret FILE]");
    rmSync(file);
    await secrets.within({}, () =>
      expect(codeOf(() => secrets.fill("{{secret.FILE}}")).code).toBe("SECRET_NOT_FOUND"),
    );
  });

  it("are variables of the daemon where one is named that is no secret, and hidden from then on", () => {
    const secrets = createSecrets(
      {},
      { DESK_KEY: "key-of-the-desk", SHORT: "abc", LABWRIGHT_SECRET_PIN: "1234-pin" },
    );
    expect(secrets.mask("key-of-the-desk")).toBe("key-of-the-desk");
    expect(secrets.ofEnvironment("DESK_KEY")).toBe("key-of-the-desk");
    expect(secrets.mask("it is key-of-the-desk")).toBe("it is [secret DESK_KEY]");
    expect(secrets.ofEnvironment("PIN")).toBe("1234-pin");
    for (const name of ["SHORT", "NONE"])
      expect(() => secrets.ofEnvironment(name)).toThrow(`The variable ${name} is`);
  });

  it("have a fingerprint that differs where they do, and is none where there is none", async () => {
    const secrets = createSecrets({}, variables);
    const other = await secrets.within({ KEY: "other-key" }, () => secrets.fingerprint());
    expect(other).not.toBe(secrets.fingerprint());
    expect(await secrets.within({ KEY: "other-key" }, () => secrets.fingerprint())).toBe(other);
    expect(createSecrets({}, {}).fingerprint()).toBe("");
  });

  it("that a process gives are those of its variables", () => {
    const sources = { WIKI: { env: "WIKI_PW" }, FILE: { file: "/x" }, NONE: { env: "NONE" } };
    expect(givenSecrets(sources, variables)).toEqual({ WIKI: "as-it-was", KEY: "daemon-key" });
  });
});

describe("filling", () => {
  const secrets = createSecrets({}, { LABWRIGHT_SECRET_PASSWORD: password, LABWRIGHT_SECRET_USER: "anna" });

  it("replaces placeholders in every string below a value and leaves the value itself alone", () => {
    const given = {
      user: "{{secret.USER}}",
      list: ["a {{secret.PASSWORD}} b", 3, null, { deep: "{{name}}" }],
    };
    const before = structuredClone(given);
    expect(secrets.fill(given)).toEqual({
      user: "anna",
      list: [`a ${password} b`, 3, null, { deep: "{{name}}" }],
    });
    expect(given).toEqual(before);
  });

  it("does not take a value for a pattern of replacement", () => {
    const odd = createSecrets({}, { LABWRIGHT_SECRET_ODD: "$&$1{{secret.USER}}" });
    expect(odd.fill("<{{secret.ODD}}>")).toBe("<$&$1{{secret.USER}}>");
  });

  it("offers the nearest name for an unknown one, in check as in fill", () => {
    for (const run of [
      () => secrets.check({ a: "{{secret.PASSWRD}}" }),
      () => secrets.fill("{{secret.PASSWRD}}"),
    ]) {
      expect(codeOf(run)).toMatchObject({
        code: "SECRET_NOT_FOUND",
        hint: expect.stringContaining("PASSWORD"),
      });
    }
    expect(() => secrets.check({ a: ["{{secret.USER}}"] })).not.toThrow();
  });
});

describe("masking", () => {
  const secrets = createSecrets({}, { LABWRIGHT_SECRET_PASSWORD: password, LABWRIGHT_SECRET_USER: "anna" });
  const json = JSON.stringify({ password });

  it.each([
    ["plain", `it is ${password}.`],
    ["URL-encoded", `?p=${encodeURIComponent(password)}&x`],
    [
      "URL-encoded in lower case",
      `?p=${encodeURIComponent(password).replace(/%../g, (c) => c.toLowerCase())}`,
    ],
    ["as a form sends it", new URLSearchParams({ p: password }).toString()],
    ["in JSON", json],
    ["in JSON in JSON", JSON.stringify({ body: json })],
    ["in JSON of ASCII", JSON.stringify(password).replaceAll("ü", "\\u00fc")],
    ["in JSON of ASCII, in upper case", JSON.stringify(password).replaceAll("ü", "\\u00FC")],
    ["in HTML with numbers", "p@ss/w+rd &#34;ü&#34; &lt;&amp;&gt;"],
    ["in HTML with hexadecimal numbers", "p@ss/w+rd &#x22;ü&#x22; &lt;&amp;&gt;"],
    ["in HTML", "<b>p@ss/w+rd &quot;ü&quot; &lt;&amp;&gt;</b>"],
    ["in base64", Buffer.from(password).toString("base64")],
    ["in base64url", Buffer.from(password).toString("base64url")],
    ["in a Basic header, first offset", Buffer.from(`a:${password}`).toString("base64")],
    ["in a Basic header, second offset", Buffer.from(`ab:${password}`).toString("base64")],
    ["in a Basic header, third offset", Buffer.from(`abc:${password}:tail`).toString("base64")],
  ])("hides a value %s", (_, text) => {
    const masked = secrets.mask(text);
    expect(masked).toContain("[secret PASSWORD]");
    expect(masked).not.toContain("ss/w");
    expect(masked).not.toContain(encodeURIComponent("ss/w"));
  });

  it.each(["&#39;", "&#x27;", "&apos;"])("hides an apostrophe as %s", (entity) => {
    const one = createSecrets({}, { LABWRIGHT_SECRET_X: `it's "mine"` });
    for (const quote of ["&quot;", "&#34;", '"'])
      expect(one.mask(`<i>it${entity}s ${quote}mine${quote}</i>`)).toBe("<i>[secret X]</i>");
  });

  const plain = "Tiger-4711";
  const hex = Buffer.from(plain).toString("hex");
  it.each([
    ["in another case", "it is TIGER-4711."],
    ["with spaces", "T i g e r - 4 7 1 1"],
    ["in lines", "Tiger\n-\u00a04711"],
    ["in hex", hex],
    ["in upper hex", `0x${hex.toUpperCase()}`],
    ["in base64 of upper case", Buffer.from(plain).toString("base64").toUpperCase()],
    ["with every character percent-encoded", hex.replace(/../g, "%$&").toUpperCase()],
    ["cut at its end", `"Tiger-47" … 12 more`],
    ["cut at its beginning", `40 more … "r-4711"`],
    ["cut in storage", "a Tiger-4[200 more]"],
    ["behind letters that become two", "İİİ Tiger-4711 İ"],
  ])("hides a value %s", (_, text) => {
    const one = createSecrets({}, { LABWRIGHT_SECRET_PASSWORD: plain });
    expect(one.mask(text)).toContain("[secret PASSWORD]");
    expect(one.mask(text)).not.toMatch(/tige|4711|7469|%54/i);
  });

  it("leaves short values in another case and parts that nothing cut", () => {
    expect(secrets.mask("Anna, a n n a")).toBe("Anna, a n n a");
    const one = createSecrets({}, { LABWRIGHT_SECRET_PASSWORD: plain });
    for (const text of ["Tiger", "a tiger … 3 more", "Tige r"]) expect(one.mask(text)).toBe(text);
  });

  it("hides values in nested objects, arrays and keys, and keeps bytes and dates", () => {
    const bytes = new Uint8Array([1]);
    const at = new Date(0);
    expect(secrets.mask({ "anna!": [{ deep: "hi anna" }], bytes, at, n: 1 })).toEqual({
      "[secret USER]!": [{ deep: "hi [secret USER]" }],
      bytes,
      at,
      n: 1,
    });
  });

  it("leaves nothing of a secret that contains another", () => {
    const both = createSecrets(
      {},
      { LABWRIGHT_SECRET_LONG: "anna-and-more", LABWRIGHT_SECRET_SHORT: "anna" },
    );
    expect(both.mask("x anna-and-more y anna z")).toBe("x [secret LONG] y [secret SHORT] z");
  });

  it("undoes a fill, whatever the value", () => {
    for (let i = 0; i < 200; i++) {
      const value = Array.from({ length: 4 + (i % 20) }, (_, k) =>
        String.fromCodePoint(33 + ((i * 31 + k * 17) % 500)),
      ).join("");
      const one = createSecrets({}, { LABWRIGHT_SECRET_X: value });
      const sent = {
        header: Buffer.from(`user:${value}`).toString("base64"),
        body: JSON.stringify({ value }),
        value,
      };
      const shown = JSON.stringify(one.mask(one.fill({ ...sent, filled: "{{secret.X}}" })));
      expect(shown).not.toContain(JSON.stringify(value).slice(1, -1));
    }
  });
});

test.each([
  ["http://anna:pw@shop.test/a", "http://[masked]@shop.test/a"],
  ["at https://ghp_abc@shop.test, then", "at https://[masked]@shop.test, then"],
  ["http://u:p@ss@shop.test/", "http://[masked]@shop.test/"],
  ["https://shop.test/?access_token=abc&page=2", "https://shop.test/?access_token=[masked]&page=2"],
  ["/cb?page=1&API_KEY=abc#top", "/cb?page=1&API_KEY=[masked]#top"],
  [
    "https://shop.test/cb#id_token=a.b.c&access_token=d&token_type=bearer",
    "https://shop.test/cb#id_token=[masked]&access_token=[masked]&token_type=bearer",
  ],
  ["https://shop.test/cb?code=abc&state=xyz", "https://shop.test/cb?code=[masked]&state=xyz"],
  [
    "https://shop.test/login?to=https%3A%2F%2Fanna%3Apw%40in.test%2F%3Ftoken%3Dabc%26a%3D1",
    "https://shop.test/login?to=https%3A%2F%2F[masked]%40in.test%2F%3Ftoken%3D[masked]%26a%3D1",
  ],
  [
    '{"url":"https:\\/\\/anna:pw@shop.test\\/?a=1\\u0026token=abc"}',
    '{"url":"https:\\/\\/[masked]@shop.test\\/?a=1\\u0026token=[masked]"}',
  ],
  ["<a href='/x?a=1&amp;sig=abc'>", "<a href='/x?a=1&amp;sig=[masked]'>"],
])("hides the credentials of %s", (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
  expect(maskAddresses(masked)).toBe(masked);
});

test.each([
  "https://shop.test/?code=SAVE10&page=2",
  "https://shop.test/users/@anna?mail=anna@shop.test",
  "write to anna@shop.test",
  "https://shop.test/?tokens=3&keyboard=de&signature_style=bold",
  "http://127.0.0.1:8080/",
  "a token=abc that is in no address",
])("leaves %s as it is", (text) => {
  expect(maskAddresses(text)).toBe(text);
});

test("takes time in step with the length, whatever the text", () => {
  const cost = (text: string) => {
    const before = process.cpuUsage();
    maskAddresses(text);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  for (const piece of ["://a@", "?token=", "%3A%2F%2Fa", "?code=1&state=", "&"]) {
    maskAddresses(piece.repeat(10_000));
    const small = Math.max(1_000, cost(piece.repeat(20_000)));
    expect(cost(piece.repeat(200_000))).toBeLessThan(small * 100);
  }
});
