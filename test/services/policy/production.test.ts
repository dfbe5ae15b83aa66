import { ToolError } from "@labwright/mcp-server";
import { describe, expect, it } from "vitest";
import { createProductionPolicy } from "#mcp-server/services/policy/production.ts";

const place = { production: false, urls: [], allow_writes: false, pii: [] };
const policy = createProductionPolicy({
  live: { ...place, production: true, urls: ["shop.example", "https://api.example/v1/*"], pii: ["email"] },
  frozen: { ...place, production: true, allow_writes: true, urls: ["open.example"] },
  staging: { ...place, urls: ["staging.example"] },
});

const codeOf = (work: () => void) => {
  try {
    work();
    return "sent";
  } catch (error) {
    return error instanceof ToolError ? error.code : String(error);
  }
};
const write = (more: Partial<Parameters<typeof policy.judgeWrite>[0]>) =>
  codeOf(() => policy.judgeWrite({ method: "POST", url: "http://127.0.0.1/", ...more }));

describe("what a run may do to production", () => {
  it.each(["POST", "put", "PATCH", "DELETE", "PURGE"])("refuses %s where a run names it", (method) => {
    expect(write({ method, environment: "live" })).toBe("POLICY_DENIED");
    expect(write({ method, environment: "staging" })).toBe("sent");
  });

  it("knows it by its address alone, whatever the run says", () => {
    expect(write({ url: "https://SHOP.example:8443/cart?x=1", environment: "staging" })).toBe(
      "POLICY_DENIED",
    );
    expect(write({ url: "https://api.example/v1/users" })).toBe("POLICY_DENIED");
    expect(write({ url: "https://api.example/v2/users" })).toBe("sent");
  });

  it("lets reads through, and writes that the call or the configuration allows", () => {
    for (const method of ["GET", "head", "OPTIONS"])
      expect(write({ method, environment: "live" })).toBe("sent");
    expect(write({ environment: "live", grant: true })).toBe("sent");
    expect(write({ url: "http://open.example/" })).toBe("sent");
  });

  it("says what to do, without what the query holds", () => {
    const error: unknown = (() => {
      try {
        policy.judgeWrite({ method: "DELETE", url: "https://shop.example/a?key=hidden" });
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ hint: expect.stringContaining("allow_production") });
    expect(String(error)).toContain("DELETE https://shop.example/a was not sent");
    expect(JSON.stringify(error)).not.toContain("hidden");
  });

  it("says of a plan why it may not write, nor send personal data, also where no environment is named", async () => {
    const judge = async (more: Partial<Parameters<typeof policy.judge>[0]>) =>
      (await policy.judge({ writes: [], personal: { names: ["email"], to: "a model" }, ...more }))?.message;
    const writes = [{ method: "DELETE", url: "https://shop.example/a" }];
    expect(await judge({ writes })).toContain("DELETE https://shop.example/a was not sent");
    for (const environment of [undefined, "live"])
      expect(await judge({ environment })).toContain("email hold personal data");
    expect(await judge({ environment: "staging" })).toBeUndefined();
    expect(await judge({ personal: { names: ["city"], to: "a log" } })).toBeUndefined();
  });
});
