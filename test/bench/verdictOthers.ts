import {
  act,
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
  open,
  opening,
  passed,
  type Runs,
  sees,
  shop,
} from "./verdictRun.ts";

export const wrongTests: Runs = [
  {
    name: "an unknown variable",
    pages: { shop },
    blocks: ({ at }) => [open(at("shop")), sees("{{nobody}}")],
    expected: error("UNKNOWN_VARIABLE"),
  },
  {
    name: "the selector of a check does not parse",
    pages: { shop },
    blocks: ({ at }) => [open(at("shop")), check("element_visible", { selector: "css=div[[" })],
    expected: error("INVALID_SELECTOR"),
  },
  {
    name: "the selector of an action does not parse",
    pages: { shop },
    blocks: ({ at }) => [open(at("shop")), click("xpath=//button["), sees("Shop")],
    expected: error("INVALID_SELECTOR"),
  },
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
  {
    name: "an output that is not there",
    pages: { shop },
    blocks: ({ at }) => [
      open(at("shop")),
      { id: "act", type: "condition", expression: "open.output.missing == 1" },
      sees("Shop"),
    ],
    expected: error("INVALID_INPUT"),
  },
];

export const lost: Runs = [
  {
    name: "the browser is killed while a check waits",
    pages: { shop: late("Ready", 60_000) },
    fault: "kill browser",
    blocks: ({ at }) => [open(at("shop")), sees("Ready", { timeout_ms: 20_000 })],
    expected: error("DEVICE_LOST"),
  },
  {
    name: "the browser is killed while a button is waited for",
    pages: { shop: late("Ready", 60_000) },
    fault: "kill browser",
    blocks: ({ at }) => [
      open(at("shop")),
      act("click_element", { selector: "Pay", timeout_ms: 20_000 }),
      sees("Paid"),
    ],
    expected: error("DEVICE_LOST"),
  },
  {
    name: "the browser is killed while an edge's check waits",
    pages: { shop: late("Ready", 60_000) },
    fault: "kill browser",
    app: ({ at }) => ({ nodes: [entry, node("Home", "Ready")], edges: [opening("Home", at("shop"))] }),
    blocks: () => [go("Home")],
    expected: error("DEVICE_LOST"),
  },
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
  {
    name: "the page is busy for ever while a check waits",
    pages: { shop: html(`<h1>Shop</h1><script>setTimeout(() => { ${freeze} }, 300)</script>`) },
    blocks: ({ at }) => [open(at("shop")), sees("Ready")],
    expected: error("PAGE_UNRESPONSIVE"),
  },
  {
    name: "the page is busy for ever when a button is to be clicked",
    pages: { shop: html(`<button>Pay</button><script>setTimeout(() => { ${freeze} }, 300)</script>`) },
    blocks: ({ at }) => [
      open(at("shop")),
      { id: "pause", type: "sleep", duration_ms: 600 },
      click("Pay"),
      sees("Paid"),
    ],
    expected: error("PAGE_UNRESPONSIVE"),
  },
  {
    name: "a click makes the page busy for ever",
    pages: { shop: html(`<button onclick="setTimeout(() => { ${freeze} })">Pay</button>`) },
    blocks: ({ at }) => [open(at("shop")), click("Pay"), sees("Paid")],
    expected: error("PAGE_UNRESPONSIVE"),
  },
  {
    name: "the page of an edge is busy for ever",
    pages: { shop: html(`<h1>Shop</h1><script>setTimeout(() => { ${freeze} }, 300)</script>`) },
    app: ({ at }) => ({ nodes: [entry, node("Home", "Ready")], edges: [opening("Home", at("shop"))] }),
    blocks: () => [go("Home")],
    expected: error("PAGE_UNRESPONSIVE"),
  },
  {
    name: "a page never gets ready for its own script",
    pages: { shop: html(`<h1>Shop</h1><script>${freeze}</script>`) },
    blocks: ({ at }) => [open(at("shop"), { timeout_ms: 4_000 }), sees("Shop")],
    expected: error("PAGE_UNRESPONSIVE"),
  },
];

export const sound: Runs = [
  {
    name: "an expected 404",
    pages: { gone: html("<h1>No such page</h1>", 404) },
    blocks: ({ at }) => [open(at("gone"), { expect_status: 404 }), sees("No such page")],
    expected: passed,
  },
  {
    name: "a 404 that a check expects",
    pages: { gone: html("<h1>No such page</h1>", 404) },
    blocks: ({ at }) => [open(at("gone")), sees("No such page")],
    expected: passed,
  },
  {
    name: "an app that is served with 404 and verified by its node",
    pages: { app: html("<h1>Shop</h1>", 404) },
    app: ({ at }) => ({ nodes: [entry, node("Home", "Shop")], edges: [opening("Home", at("app"))] }),
    blocks: () => [go("Home")],
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
  {
    name: "a failure that an edge of the test leads on from",
    pages: { shop },
    blocks: ({ at }) => [open(at("shop")), sees("Shop")],
    expected: passed,
  },
];
