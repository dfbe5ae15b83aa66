import { describe, expect, it } from "vitest";
import type { Arrow } from "#controllers/focus/geometry.ts";
import { FakeScreen, rowsOf, tableOf } from "./fakeScreen.ts";

const grid = ["abcde", "fghij", "klmno", "pqrst"].map((row) => [...row]);
const gridScreen = (start?: string) => new FakeScreen(() => rowsOf(grid), tableOf(grid), start);

/** The presses between two places of the grid. */
function apart(from: string, to: string): number {
  const at = (name: string) => {
    const y = grid.findIndex((row) => row.includes(name));
    return { x: grid[y]?.indexOf(name) ?? 0, y };
  };
  const [a, b] = [at(from), at(to)];
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}

describe("on a screen that does what its rects say", () => {
  it("every place of a grid is reached from every other by the fewest presses", async () => {
    for (const from of grid.flat()) {
      for (const to of grid.flat()) {
        const { presses, target } = await gridScreen(from).go(to);
        expect([to, presses]).toEqual([target.name, apart(from, to)]);
      }
    }
  });

  it("nothing is pressed where the target has the focus", async () => {
    expect(await gridScreen("g").go("g")).toMatchObject({ presses: 0, looks: 1 });
  });

  it("the focus goes down rows that stand staggered", async () => {
    const rows = [
      ["a", "b", "c"],
      ["d", "e"],
      ["f", "g", "h", "i"],
    ];
    const left = [0, 70, 150];
    const screen = new FakeScreen(() => rowsOf(rows, left), tableOf(rows), "a");
    expect((await screen.go("i")).presses).toBeLessThanOrEqual(6);
  });

  it("no arrow is expected to end on a list that could have the focus, but on what is in it", async () => {
    const list = { name: "list", role: "list", rect: { x: 0, y: 55, width: 600, height: 180 } };
    for (const to of ["f", "m", "t"]) {
      const screen = new FakeScreen(() => [list, ...rowsOf(grid)], tableOf(grid), "c");
      expect((await screen.go(to)).presses).toBe(apart("c", to));
    }
  });

  it("without a focus, one press gives it to something", async () => {
    const screen = gridScreen();
    expect((await screen.go("a")).presses).toBe(1);
  });
});

describe("what presses did", () => {
  it("is believed before rects: a D-pad that goes its own ways is learnt", async () => {
    // DOWN leads to the first of the next row, and RIGHT of the last goes on there.
    const odd = (from: string, arrow: Arrow) => {
      const next = (grid[grid.findIndex((row) => row.includes(from)) + 1] ?? [])[0];
      const to = tableOf(grid)(from, arrow);
      return arrow === "DOWN" || (arrow === "RIGHT" && to === undefined) ? next : to;
    };
    const screen = new FakeScreen(() => rowsOf(grid), odd, "c");
    expect((await screen.go("m")).presses).toBeLessThanOrEqual(6);
    await screen.go("d");
    await screen.go("t");
    expect(screen.focused).toBe("t");
    screen.focused = "c";
    expect((await screen.go("m")).presses).toBe(4);
  });

  it("is tried everywhere before a trap is reported: UP and DOWN may have changed places", async () => {
    const turned = { UP: "DOWN", DOWN: "UP", LEFT: "LEFT", RIGHT: "RIGHT" } as const;
    const next = (from: string, arrow: Arrow) => tableOf(grid)(from, turned[arrow]);
    const screen = new FakeScreen(() => rowsOf(grid), next, "f");
    await screen.go("p", { mostPresses: 100 });
    expect(screen.focused).toBe("p");
  });

  it("is tried where rects lead nowhere", async () => {
    // Only UP of the first leads to the menu on the right.
    const rows = [["a", "b", "c"]];
    const spots = [...rowsOf(rows), { name: "menu", rect: { x: 800, y: 200, width: 100, height: 50 } }];
    const next = (from: string, arrow: Arrow) =>
      from === "a" && arrow === "UP" ? "menu" : tableOf(rows)(from, arrow);
    const screen = new FakeScreen(() => spots, next, "c");
    await screen.go("menu");
    screen.focused = "c";
    expect((await screen.go("menu")).presses).toBe(3);
  });

  it("is used again: a straight line that was seen leaves in one go, with one snapshot behind it", async () => {
    const screen = gridScreen("a");
    await screen.go("e");
    await screen.go("a");
    screen.sends.length = 0;
    expect(await screen.go("e")).toMatchObject({ presses: 4, looks: 2 });
    expect(screen.sends).toEqual([["RIGHT", "RIGHT", "RIGHT", "RIGHT"]]);
  });

  it("is doubted when such a line ends elsewhere, and looked after from then on", async () => {
    let isShort = false;
    const table = tableOf(grid);
    const screen = new FakeScreen(
      () => rowsOf(grid),
      (from, arrow) => (isShort && arrow === "RIGHT" && from === "b" ? "g" : table(from, arrow)),
      "a",
    );
    await screen.go("e");
    await screen.go("a");
    isShort = true;
    await screen.go("e");
    expect(screen.focused).toBe("e");
    await screen.go("a");
    screen.sends.length = 0;
    await screen.go("e");
    expect(screen.sends.every((keys) => keys.length === 1 || keys[0] !== "RIGHT")).toBe(true);
  });

  it("shows the short way round where rows are rings", async () => {
    const screen = new FakeScreen(() => rowsOf(grid), tableOf(grid, { isRing: true }), "a");
    screen.press("LEFT");
    screen.focused = "a";
    await screen.go("e");
    // Right of the last is the first: no one goes there to reach a neighbour, but once it was seen it is used.
    screen.map.learn("button\na", "LEFT", "button\ne");
    screen.focused = "a";
    expect((await screen.go("e")).presses).toBe(1);
  });

  it("masters rails that remember where they were left", async () => {
    const rows = [[..."abcdef"], [..."ghijkl"], [..."mnopqr"]];
    const last = [5, 5, 0];
    const next = (from: string, arrow: Arrow) => {
      const y = rows.findIndex((row) => row.includes(from));
      if (arrow === "LEFT" || arrow === "RIGHT") return tableOf(rows)(from, arrow);
      last[y] = rows[y]?.indexOf(from) ?? 0;
      const to = arrow === "DOWN" ? y + 1 : y - 1;
      return rows[to]?.[last[to] ?? 0];
    };
    const screen = new FakeScreen(() => rowsOf(rows), next, "a");
    for (const target of ["o", "b", "l", "r", "g", "f"]) {
      await screen.go(target);
      expect(screen.focused).toBe(target);
    }
    // Eight for each on average: no two places are more than seven apart, and where a rail was left shows only on arrival.
    expect(screen.keys.length).toBeLessThanOrEqual(48);
  });
});

describe("a focus that does not keep to it", () => {
  it("is followed when it jumps by itself", async () => {
    const screen = gridScreen("a");
    const press = screen.press.bind(screen);
    screen.press = (key) => {
      press(key);
      if (screen.keys.length === 3) screen.focused = "t";
    };
    await screen.go("o");
    expect(screen.focused).toBe("o");
  });

  it("that nothing has for a moment, between two screens, is waited for", async () => {
    const screen = gridScreen("a");
    const press = screen.press.bind(screen);
    screen.press = (key) => {
      press(key);
      if (screen.keys.length === 1) screen.blindLooks = 2;
    };
    expect((await screen.go("d")).presses).toBe(3);
  });

  it("that arrives late is not taken for one that stays", async () => {
    const screen = gridScreen("a");
    screen.lateLooks = 1;
    expect((await screen.go("c")).presses).toBe(2);
  });
});

describe("what cannot be reached", () => {
  const rows = [["1", "2", "3", "4", "5"], ["Send"]];
  const trap = () => {
    const table = tableOf(rows);
    const next = (from: string, arrow: Parameters<typeof table>[1]) => {
      const to = table(from, arrow);
      return to === "Send" ? undefined : to;
    };
    return new FakeScreen(() => rowsOf(rows), next, "3");
  };

  it("behind a trap, ends with the keys that were tried and what has the focus", async () => {
    const screen = trap();
    await expect(screen.go("Send")).rejects.toMatchObject({
      code: "FOCUS_TRAPPED",
      message: expect.stringMatching(
        /focus is on button "\d".* leads from there to Send: UP, DOWN, LEFT, RIGHT in/,
      ),
      details: { tried: expect.arrayContaining(["UP", "DOWN", "LEFT", "RIGHT"]) },
    });
    expect(screen.keys.length).toBeLessThanOrEqual(28);
    for (const star of rows[0] ?? [])
      expect(screen.map.outcome(`button\n${star}`, "DOWN")?.to).toBe(`button\n${star}`);
  });

  it("is reported again only after the keys were tried again", async () => {
    const screen = trap();
    await expect(screen.go("Send")).rejects.toMatchObject({ code: "FOCUS_TRAPPED" });
    const before = screen.keys.length;
    await expect(screen.go("Send")).rejects.toMatchObject({
      code: "FOCUS_TRAPPED",
      message: expect.stringMatching(/: UP, DOWN, LEFT, RIGHT in \d+ presses/),
    });
    expect(screen.keys.length).toBeGreaterThan(before);
  });

  it("is reached once the app has opened the trap", async () => {
    const table = tableOf(rows);
    let isOpen = false;
    const next: typeof table = (from, arrow) => {
      const to = table(from, arrow);
      return to === "Send" && !isOpen ? undefined : to;
    };
    const screen = new FakeScreen(() => rowsOf(rows), next, "3");
    await expect(screen.go("Send")).rejects.toMatchObject({ code: "FOCUS_TRAPPED" });
    isOpen = true;
    expect((await screen.go("Send")).target.name).toBe("Send");
  });

  it("is not there, where no key leads: no press is reported of that was not made", async () => {
    const screen = new FakeScreen(() => rowsOf([["Only"]]), tableOf([["Only"]]), "Only");
    await expect(screen.go("Other", { mostPresses: 0 })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      message: expect.not.stringContaining("presses"),
    });
  });

  it("is not there: ELEMENT_NOT_FOUND with the nearest names", async () => {
    const named = [
      ["Film 1", "Film 2"],
      ["News", "Sport"],
    ];
    const screen = new FakeScreen(() => rowsOf(named), tableOf(named), "News");
    await expect(screen.go("Flim 1")).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { nearest: expect.arrayContaining(["Film 1"]) },
    });
    expect(screen.keys.length).toBeLessThanOrEqual(16);
  });

  it("has more presses on its way than are allowed", async () => {
    await expect(gridScreen("a").go("t", { mostPresses: 3 })).rejects.toMatchObject({
      code: "ELEMENT_NOT_ACTIONABLE",
      message: expect.stringContaining("in 3 presses"),
    });
  });

  it("comes back from what is not shown, and goes another way then", async () => {
    const spots = rowsOf([["a"], ["b"], ["c"]]);
    // UP from the first leads to an icon that no snapshot shows.
    const next = { "a UP": "icon", "icon DOWN": "a", "a DOWN": "b", "b DOWN": "c", "b UP": "a", "c UP": "b" };
    const screen = new FakeScreen(
      () => spots,
      (from, arrow) => next[`${from} ${arrow}` as keyof typeof next],
      "icon",
    );
    expect(await screen.go("c")).toMatchObject({ target: { name: "c" }, presses: 3 });
    screen.press("UP");
    screen.press("UP");
    screen.press("UP");
    expect(await screen.go("b")).toMatchObject({ target: { name: "b" } });
  });

  it("on a screen where nothing takes the focus", async () => {
    const screen = new FakeScreen(
      () => rowsOf(grid),
      () => undefined,
    );
    await expect(screen.go("c")).rejects.toMatchObject({ code: "ELEMENT_NOT_ACTIONABLE" });
    expect(screen.keys).toEqual(["DOWN"]);
  });
});

describe("lists that go on", () => {
  const names = Array.from({ length: 30 }, (_, at) => `Row ${at + 1}`);
  /** Ten rows of thirty are on the screen, and the focus is among them. */
  const longList = () => {
    let top = 0;
    const screen: FakeScreen = new FakeScreen(
      () => {
        const at = names.indexOf(screen.focused ?? "");
        top = Math.min(Math.max(top, at - 9), at);
        const shown = names.slice(top, top + 10);
        return shown.map((name, y) => ({ name, rect: { x: 0, y: y * 60, width: 900, height: 55 } }));
      },
      (from, arrow) => {
        const at = names.indexOf(from);
        if (arrow === "LEFT" || arrow === "RIGHT") return undefined;
        return names[arrow === "DOWN" ? at + 1 : at - 1];
      },
      "Row 1",
    );
    return screen;
  };

  it("below: what is out of sight is found and rows that scroll are kept apart", async () => {
    const screen = longList();
    expect((await screen.go("Row 25")).presses).toBe(24);
  });

  it("are known the next time: straight back to what is out of sight", async () => {
    const screen = longList();
    await screen.go("Row 25");
    expect((await screen.go("Row 2")).presses).toBe(23);
    expect((await screen.go("Row 25")).presses).toBe(23);
  });

  it("are gone through where the highlight stands still and the list moves under it, with more beside and above", async () => {
    const menu = ["Movies", "Shows", "Music", "Videos", "TV", "Radio", "Games", "Extras"];
    const down = { DOWN: 1, UP: -1, LEFT: 0, RIGHT: 0 } as const;
    const beside = ["Enter", "Remove"].map((name, x) => ({
      name,
      rect: { x: 400 + 200 * x, y: 330, width: 180, height: 40 },
    }));
    const title = { name: "Brand", rect: { x: 230, y: 20, width: 60, height: 30 } };
    const screen: FakeScreen = new FakeScreen(
      () => {
        const at = Math.max(0, menu.indexOf(screen.focused ?? ""));
        const listed = menu.slice(at, at + 6).map((name, y) => ({
          name,
          rect: { x: 0, y: 120 + y * 70, width: 180, height: 40 },
        }));
        return [title, ...listed, ...beside];
      },
      (from, arrow) => {
        if (!menu.includes(from)) return arrow === "LEFT" ? "Shows" : undefined;
        return arrow === "RIGHT" ? "Enter" : menu[menu.indexOf(from) + down[arrow]];
      },
      "Shows",
    );
    expect((await screen.go("Games")).presses).toBe(5);
    expect((await screen.go("Music")).presses).toBe(4);
    expect((await screen.go("Extras")).presses).toBeLessThanOrEqual(7);
  });

  it("waits for what is about to appear before it searches", async () => {
    const rows = [
      ["a", "b"],
      ["c", "d"],
    ];
    let isThere = false;
    const screen = new FakeScreen(() => rowsOf(isThere ? rows : [["a", "b"]]), tableOf(rows), "a");
    setTimeout(() => {
      isThere = true;
    }, 300);
    expect((await screen.go("c", { timeoutMs: 2_000 })).presses).toBe(1);
  });
});
