import {
  act,
  atHome,
  check,
  click,
  edge,
  entry,
  error,
  gate,
  go,
  html,
  late,
  node,
  onPage,
  open,
  opening,
  passed,
  type Runs,
  sees,
  shop,
} from "./verdictRun.ts";

export const wrongTests: Runs = [
  ...onPage(error("UNKNOWN_VARIABLE"), {
    "an unknown variable": [shop, sees("{{nobody}}")],
  }),
  ...onPage(error("INVALID_SELECTOR"), {
    "the selector of a check does not parse": [shop, check("element_visible", { selector: "css=div[[" })],
    "the selector of an action does not parse": [shop, click("xpath=//button["), sees("Shop")],
  }),
  ...onPage(error("INVALID_INPUT"), {
    "an output that is not there": [
      shop,
      { id: "act", type: "condition", expression: "open.output.missing == 1" },
      sees("Shop"),
    ],
  }),
  {
    name: "the tree has no path",
    pages: { shop },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Island", "Sea")],
      edges: [opening("Home", at("shop"))],
    }),
    blocks: () => [go("Home"), { ...go("Island"), id: "island" }],
    expected: error("NO_PATH"),
  },
  {
    name: "the selector of an edge does not parse",
    pages: { shop },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Cart", "Your cart")],
      edges: [opening("Home", at("shop")), edge("Home", "Cart", "click_element", { selector: "css=a[[" })],
    }),
    blocks: () => [go("Cart")],
    expected: error("INVALID_SELECTOR"),
  },
  {
    name: "an address that is none",
    blocks: () => [open("http://"), sees("Shop")],
    expected: error("INVALID_PARAMS"),
  },
  {
    name: "nothing is checked",
    pages: { shop },
    app: ({ at }) => ({ nodes: [entry, node("Home")], edges: [opening("Home", at("shop"))] }),
    blocks: () => [go("Home")],
    expected: error("NOTHING_VERIFIED"),
  },
];

export const lost: Runs = [
  ...onPage(
    error("DEVICE_LOST"),
    {
      "the browser is killed while a check waits": [
        late("Ready", 60_000),
        sees("Ready", { timeout_ms: 20_000 }),
      ],
      "the browser is killed while a button is waited for": [
        late("Ready", 60_000),
        act("click_element", { selector: "Pay", timeout_ms: 20_000 }),
        sees("Paid"),
      ],
    },
    "kill browser",
  ),
  ...atHome(
    error("DEVICE_LOST"),
    {
      "the browser is killed while an edge's check waits": [late("Ready", 60_000), "Ready"],
    },
    "kill browser",
  ),
  {
    name: "the browser is killed between two steps",
    pages: { shop },
    fault: "kill browser",
    blocks: ({ at, gate: url }) => [open(at("shop")), gate(url), sees("Shop")],
    expected: error("DEVICE_LOST"),
  },
  {
    name: "the browser is killed between two steps of navigation",
    pages: { shop },
    fault: "kill browser",
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Cart", "Your cart")],
      edges: [opening("Home", at("shop")), edge("Home", "Cart", "click_element", { selector: "Save" })],
    }),
    blocks: ({ gate: url }) => [go("Home"), gate(url), { ...go("Cart"), id: "cart" }],
    expected: error("DEVICE_LOST"),
  },
];

const freeze = "while (true);";
export const frozen: Runs = [
  ...onPage(error("PAGE_UNRESPONSIVE"), {
    "the page is busy for ever while a check waits": [
      html(`<h1>Shop</h1><script>setTimeout(() => { ${freeze} }, 300)</script>`),
      sees("Ready"),
    ],
    "the page is busy for ever when a button is to be clicked": [
      html(`<button>Pay</button><script>setTimeout(() => { ${freeze} }, 300)</script>`),
      { id: "pause", type: "sleep", duration_ms: 600 },
      click("Pay"),
      sees("Paid"),
    ],
    "a click makes the page busy for ever": [
      html(`<button onclick="setTimeout(() => { ${freeze} })">Pay</button>`),
      click("Pay"),
      sees("Paid"),
    ],
  }),
  ...atHome(error("PAGE_UNRESPONSIVE"), {
    "the page of an edge is busy for ever": [
      html(`<h1>Shop</h1><script>setTimeout(() => { ${freeze} }, 300)</script>`),
      "Ready",
    ],
  }),
  {
    name: "a page never gets ready for its own script",
    pages: { shop: html(`<h1>Shop</h1><script>${freeze}</script>`) },
    blocks: ({ at }) => [open(at("shop"), { timeout_ms: 4_000 }), sees("Shop")],
    expected: error("PAGE_UNRESPONSIVE"),
  },
];

export const sound: Runs = [
  ...onPage(passed, {
    "a 404 that a check expects": [html("<h1>No such page</h1>", 404), sees("No such page")],
    "a failure that an edge of the test leads on from": [shop, sees("Shop")],
  }),
  ...atHome(passed, {
    "an app that is served with 404 and verified by its node": [html("<h1>Shop</h1>", 404), "Shop"],
  }),
  {
    name: "an expected 404",
    pages: { gone: html("<h1>No such page</h1>", 404) },
    blocks: ({ at }) => [open(at("gone"), { expect_status: 404 }), sees("No such page")],
    expected: passed,
  },
  {
    name: "an edge that fails, and another way that holds",
    pages: { shop: html("<h1>Shop</h1><a href=cart>Cart</a>"), cart: html("<h1>Your cart</h1>") },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Cart", "Your cart")],
      edges: [
        opening("Home", at("shop")),
        edge("Home", "Cart", "click_element", { selector: "Basket", timeout_ms: 500 }),
        opening("Cart", at("cart")),
      ],
    }),
    blocks: () => [go("Home"), { ...go("Cart"), id: "cart" }],
    expected: passed,
  },
];
