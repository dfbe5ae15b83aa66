import { expect, test } from "vitest";
import { maskAddresses } from "../../../mcp-server/src/services/policy/addressCredentials.ts";

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
