import {
  atHome,
  check,
  click,
  edge,
  entry,
  error,
  failed,
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

export const down: Runs = [
  {
    name: "nothing listens",
    blocks: ({ closed }) => [open(closed), sees("Shop")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "the host name is unknown",
    blocks: ({ unknownHost }) => [open(unknownHost), sees("Shop")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "the certificate is not trusted",
    blocks: ({ badCertificate }) => [open(badCertificate), sees("Shop")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "nothing listens behind the edge from the entry",
    app: ({ closed }) => ({ nodes: [entry, node("Home", "Shop")], edges: [opening("Home", closed)] }),
    blocks: () => [go("Home")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "nothing listens at the app's own address",
    app: ({ closed }) => ({
      url: closed,
      nodes: [entry, node("Home", "Shop")],
      edges: [{ source: "Start", target: "Home", action_sets: [{}] }],
    }),
    blocks: () => [go("Home")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "the app goes down before a link is clicked",
    pages: { shop: html("<a href=cart>Cart</a>") },
    fault: "close app",
    blocks: ({ at, gate: url }) => [open(at("shop")), gate(url), click("Cart"), sees("Your cart")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "the app goes down before the click of an edge",
    pages: { shop: html("<a href=cart>Cart</a>") },
    fault: "close app",
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Cart"), node("Bought", "Thank you")],
      edges: [opening("Home", at("shop")), edge("Home", "Bought", "click_element", { selector: "Cart" })],
    }),
    blocks: ({ gate: url }) => [go("Home"), gate(url), { ...go("Bought"), id: "buy" }],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "the app goes down and a poll of the page fails while a button is waited for",
    pages: {
      shop: html(
        "<h1>Shop</h1><script>setInterval(() => fetch('items').then(async (one) => { if (one.ok) document.body.innerHTML = await one.text() }).catch(() => {}), 300)</script>",
      ),
      items: html("<h1>Shop</h1>"),
    },
    fault: "close app",
    blocks: ({ at, gate: url }) => [open(at("shop")), gate(url), click("Pay"), sees("Paid")],
    expected: error("APP_UNREACHABLE"),
  },
  {
    name: "an endpoint of the app is down",
    blocks: ({ closed }) => [{ ...gate(closed), expect_status: 200 }],
    expected: error("APP_UNREACHABLE"),
  },
];

export const slowApp: Runs = [
  ...onPage(failed("VERIFICATION_FAILED"), {
    "a text comes after the check's deadline": [late("Ready", 8_000), sees("Ready")],
  }),
  ...onPage(passed, {
    "a text comes within the check's deadline": [late("Ready", 600), sees("Ready")],
    "the server answers within the command's deadline": [{ ...shop, afterMs: 700 }, sees("Shop")],
  }),
  ...onPage(failed("ELEMENT_NOT_FOUND"), {
    "a button comes after the action's deadline": [
      html("<script>setTimeout(() => { document.body.innerHTML = '<button>Pay</button>' }, 8000)</script>"),
      click("Pay"),
      sees("Pay"),
    ],
  }),
  ...atHome(failed("VERIFICATION_FAILED"), {
    "a text comes after the check's deadline of an edge": [late("Ready", 8_000), "Ready"],
  }),
  {
    name: "the server answers after the command's deadline",
    pages: { shop: { ...shop, afterMs: 6_000 } },
    blocks: ({ at }) => [open(at("shop"), { timeout_ms: 1_500 }), sees("Shop")],
    expected: failed("NAVIGATION_FAILED"),
  },
  {
    name: "a fetch of the page is never answered",
    pages: {
      shop: html(
        "<p id=late>Loading</p><script>fetch('items').then(() => { late.textContent = 'Ready' })</script>",
      ),
      items: { never: true },
    },
    blocks: ({ at }) => [open(at("shop")), sees("Ready")],
    expected: failed("VERIFICATION_FAILED"),
  },
  {
    name: "the run's own deadline passes",
    pages: { shop: late("Ready", 60_000) },
    blocks: ({ at }) => [open(at("shop")), sees("Ready", { timeout_ms: 60_000 })],
    timeoutMs: 3_000,
    expected: { status: "timeout", code: "EXECUTION_TIMEOUT" },
  },
];

export const slowMachine: Runs = [
  ...onPage(
    error("ENVIRONMENT_SLOW"),
    {
      "the browser stands while a check waits": [late("Ready", 60_000), sees("Ready")],
    },
    "stop browser",
  ),
  ...onPage(
    error("ENVIRONMENT_SLOW"),
    {
      "our loop stands while a check waits": [late("Ready", 60_000), sees("Ready")],
      "our loop stands while a button is waited for": [
        late("Ready", 60_000),
        click("Ready to pay"),
        sees("Ready"),
      ],
    },
    "stop loop",
  ),
  ...atHome(
    error("ENVIRONMENT_SLOW"),
    {
      "our loop stands while an edge's check waits": [late("Ready", 60_000), "Ready"],
    },
    "stop loop",
  ),
  ...onPage(
    failed("VERIFICATION_FAILED"),
    {
      "our loop stands, but the value that was read is wrong": [
        late("41", 0),
        check("element_text", { selector: "Shop", text: "Closed" }),
      ],
    },
    "stop loop",
  ),
  ...onPage(
    failed("VERIFICATION_FAILED"),
    {
      "our loop stands for a moment, and a text is missing all the same": [late("41", 0), sees("Thank you")],
    },
    "stop loop shortly",
  ),
  ...onPage(
    passed,
    {
      "the browser stands for a moment, and the app is right": [
        late("Ready", 1_100),
        sees("Ready", { timeout_ms: 5_000 }),
      ],
    },
    "stop browser shortly",
  ),
];
