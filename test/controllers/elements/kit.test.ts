import { DeviceError, type Element, nearest, ranking } from "@labwright/controllers";
import { describe, expect, test } from "vitest";
import { withConcealed } from "#controllers/elements/concealed.ts";
import { noSuchKey, portableKeys } from "#controllers/elements/keys.ts";
import { nearestOf } from "#controllers/elements/nearest.ts";
import { testPattern } from "#controllers/elements/patterns.ts";
import { byWorth, toSelector } from "#controllers/elements/ranking.ts";
import { Refs } from "#controllers/elements/refs.ts";
import { onlyTarget } from "#controllers/elements/target.ts";
import { fold, TextMatcher, tidy } from "#controllers/elements/text.ts";

describe("refs", () => {
  const button = (ref: string, name = "Save"): Element => ({
    ref,
    role: "button",
    name,
    states: [],
    depth: 0,
    interactive: true,
  });

  test("an element keeps its ref for as long as looks show it, and no number is given twice", () => {
    const refs = new Refs();
    expect([refs.of("a"), refs.of("b"), refs.of("a")]).toEqual(["e1", "e2", "e1"]);
    expect(refs.look([button("e1"), button("e2")])).toBe(1);
    expect(refs.look([button(refs.of("a"))])).toBe(2);
    expect(refs.look([button(refs.of("a"))])).toBe(3);
    expect(refs.of("a")).toBe("e1");
    expect(refs.of("b")).toBe("e3");
  });

  test("the elements of the last two snapshots are known", () => {
    const refs = new Refs();
    refs.numbered("", 3);
    refs.look([button("e1", "Old"), button("e2", "First")]);
    refs.look([button("e2", "Second")]);
    expect([refs.recall("e1")?.name, refs.recall("e2")?.name]).toEqual(["Old", "Second"]);
    refs.look([]);
    expect([refs.recall("e1"), refs.recall("e2")?.name]).toEqual([undefined, "Second"]);
  });

  test("a ref that was given once is stale, one that never was is not there; each part counts its own", () => {
    const refs = new Refs();
    refs.numbered("f1", 5);
    refs.look([button("f1e4")]);
    expect(refs.gone("f1e4", ['role=button[name="Saved"]'])).toMatchObject({
      code: "STALE_REF",
      message: expect.stringMatching(/^f1e4 button "Save" is from an older snapshot .*nearest: role=button/),
    });
    expect(refs.gone("f1e3", [])).toMatchObject({ code: "STALE_REF" });
    for (const ref of ["e1", "f1e5", "f2e1", "button", "e"])
      expect(refs.gone(ref, [])).toMatchObject({ code: "ELEMENT_NOT_FOUND" });
    expect(refs.nextNumber("f1")).toBe(5);
  });
});

describe("texts", () => {
  const matcher = new TextMatcher(tidy);

  test.each([
    ["same", " save\n ALL ", true],
    ["same", "Save", false],
    ["same", "Sa … 6 more", true],
    ["same", "Sa … 5 more", false],
    ["cased", "Save all", true],
    ["cased", "save all", false],
    ["contains", "E A", true],
    ["exact", "Save  all", true],
    ["exact", "Save all", false],
  ] as const)("%s %j", (match, text, holds) => {
    expect(matcher.holds({ match, text }, "Save  all")).toBe(holds);
  });

  test("what is not there holds nothing", () => {
    expect(matcher.holds({ match: "contains", text: "" }, undefined)).toBe(false);
  });

  test("a pattern has flags, and finds out no part of a secret", async () => {
    expect(await testPattern({ match: "pattern", text: "^save", flags: "i" }, ["Save all", "all"])).toEqual([
      true,
      false,
    ]);
    expect(await testPattern({ match: "pattern", text: "^save" }, ["Save all"])).toEqual([false]);
    const tested = (text: string) => () => testPattern({ match: "pattern", text }, ["said by tiger"]);
    const conceal = (text: string) => text.replace("tiger", "{{secret.CAT}}");
    expect(await withConcealed(conceal, tested("t.?i"))).toEqual([false]);
    expect(await withConcealed(conceal, tested("^said by .+"))).toEqual([true]);
  });

  test("what no one can see does not count", () => {
    expect(fold("\u200bSave\u00a0\u0007 ALL\ue001")).toBe("save all");
  });
});

describe("nearest", () => {
  test("names by spelling, best first, each once", () => {
    expect(nearest("clik_element", ["click_element", "press_key", "click element", "click_element"])).toEqual(
      ["click element", "click_element"],
    );
    expect(nearest("", ["a", ""])).toEqual([]);
  });

  test("things keep their order where they are equally like, and each text comes once", () => {
    const things = [
      { id: 1, name: "Saved" },
      { id: 2, name: "Save" },
      { id: 3, name: "Save" },
      { id: 4, name: "x" },
    ];
    expect(nearestOf("save", things, { text: ({ name }) => name }).map(({ id }) => id)).toEqual([2, 1]);
  });
});

describe("ranking", () => {
  const score = (kind: "role" | "id" | "text" | "css" | "native", value: string, count = 1) =>
    ranking.score({ kind, value, count });

  test.each([
    ["role", "Save", 0.9],
    ["role", "Pay $5.99", 0.55],
    ["role", "5 €", 0.55],
    ["role", "Today 12:30", 0.55],
    ["role", "Cart (3)", 0.7],
    ["role", "x".repeat(51), 0.75],
    ["id", "login", 0.7],
    ["id", "ember1234", 0.2],
    ["css", "li:nth-of-type(2)", 0.3],
    ["native", "new UiSelector()", 0.3],
  ] as const)("%s=%s is worth %d", (kind, value, worth) => {
    expect(score(kind, value)).toBe(worth);
  });

  test("a guess is worth less, a twin too, and nothing is worth nothing", () => {
    expect(ranking.score({ kind: "role", value: "Save", count: 1 }, true)).toBe(0.65);
    expect(score("role", "Save", 2)).toBe(0.6);
    expect(score("id", "ember1234", 2)).toBe(0.02);
  });

  test("a candidate becomes a selector; what has a twin elsewhere comes after what is unique", () => {
    const save = { kind: "role", role: "button", value: "Save", count: 1, score: 0.9 } as const;
    const twin = toSelector(save, 1);
    expect(twin).toEqual({ kind: "role", selector: 'role=button[name="Save"]', unique: false, score: 0.6 });
    const text = toSelector({ kind: "text", value: "Save", count: 1, score: 0.4 });
    expect([twin, text].sort(byWorth)).toEqual([text, twin]);
  });
});

test("an element is named by exactly one of ref and selector", () => {
  expect(onlyTarget({ ref: "e1" })).toEqual({ ref: "e1" });
  expect(onlyTarget({ selector: "Save" })).toEqual({ selector: "Save" });
  for (const wrong of [{}, { ref: "e1", selector: "Save" }])
    expect(() => onlyTarget(wrong)).toThrow(DeviceError);
});

describe("keys", () => {
  test("each has one name", () => {
    expect(new Set(portableKeys).size).toBe(portableKeys.length);
  });

  test("a key that a device lacks is reported from one that is none", () => {
    const has = ["VOLUME_UP", "VOLUME_DOWN"];
    expect(noSuchKey("MUTE", has).message).toBe("This device has no key MUTE.");
    expect(noSuchKey("VOLUM_UP", has, " Look.")).toMatchObject({
      code: "INVALID_PARAMS",
      message: 'There is no key "VOLUM_UP". Nearest: VOLUME_UP, VOLUME_DOWN. Look.',
      details: { nearest: has },
    });
  });
});
