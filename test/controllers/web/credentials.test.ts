import { expect, it } from "vitest";
import { hideCredentials } from "#controllers/web/activity/credentials.ts";

it.each([
  ['{"user":"ada","password":"a\\"b","pin":1234}', '{"user":"ada","password":"[masked]","pin":"[masked]"}'],
  ['{"body":"{\\"token\\":\\"abc\\"}"}', '{"body":"{\\"token\\":"[masked]"}"}'],
  ['{"access_token":"cut off', '{"access_token":"[masked]"'],
  ["{user: ada, password: hunter22, l: Array(2)}", "{user: ada, password: [masked], l: Array(2)}"],
  ["GET /\nCookie: sid=1; b=2\nAccept: */*", "GET /\nCookie: [masked]\nAccept: */*"],
  ["user=ada&new_password=a%20b&x=1", "user=ada&new_password=[masked]&x=1"],
  ["https://ada:hunter22@shop.example/?token=abc#x", "https://ada:[masked]@shop.example/?token=[masked]"],
  ["sent Bearer abcdefgh12345678 and eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "sent Bearer [masked] and [masked]"],
  ["Unexpected token: } in tokens.js:3:14 (passed 3)", "Unexpected token: } in tokens.js:3:14 (passed 3)"],
])("%s", (text, shown) => {
  expect(hideCredentials(text)).toBe(shown);
});

it("takes linear time for hostile texts", () => {
  for (const piece of ["token", '"token" ', ",{token", 'name="token"\n', "&token_", "://a:"])
    expect(hideCredentials(piece.repeat(20_000 / piece.length))).toEqual(expect.any(String));
});
