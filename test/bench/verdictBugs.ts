import {
  act,
  atHome,
  check,
  click,
  deadlineMs,
  edge,
  entry,
  failed,
  type Given,
  gate,
  go,
  html,
  node,
  onPage,
  open,
  opening,
  type Runs,
  sees,
  shop,
} from "./verdictRun.ts";

/** Wrong values and missing elements of an app that answers. */
export const appBugs: Runs = [
  ...onPage(failed("VERIFICATION_FAILED"), {
    "a total is wrong": [shop, check("element_text", { selector: "id=total", text: "42" })],
    "a text is missing": [shop, sees("Thank you")],
    "a field does not say what was typed": [
      html("<label>Name <input oninput='greet.textContent = 1'></label><p id=greet></p>"),
      act("input_text", { selector: "Name", text: "Anna" }),
      sees("Hello Anna"),
    ],
  }),
  ...onPage(failed("ELEMENT_NOT_FOUND"), {
    "a button of an action is missing": [shop, click("Pay"), sees("Shop")],
  }),
  ...onPage(failed("ELEMENT_NOT_ACTIONABLE"), {
    "a button is covered": [
      html("<button>Pay</button><div style='position:fixed;inset:0;background:#fff8'>wait</div>"),
      click("Pay"),
      sees("wait"),
    ],
    "a button is disabled": [html("<button disabled>Pay</button>"), click("Pay"), sees("Pay")],
  }),
  ...atHome(failed("VERIFICATION_FAILED"), {
    "the page of an edge shows another text": [shop, "Welcome"],
  }),
  ...onPage(failed("NAVIGATION_FAILED"), {
    "a page is not there (404)": [html("<h1>Not found</h1>", 404), click("Save"), sees("Saved")],
  }),
  {
    name: "the button of an edge is missing",
    pages: { shop },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Cart", "Your cart")],
      edges: [
        opening("Home", at("shop")),
        edge("Home", "Cart", "click_element", { selector: "Open cart", timeout_ms: deadlineMs }),
      ],
    }),
    blocks: () => [go("Cart")],
    expected: failed("ELEMENT_NOT_FOUND"),
  },
  {
    name: "the link of an edge leads to a server error (500)",
    pages: { shop: html("<a href=cart>Cart</a>"), cart: html("<h1>Server error</h1>", 500) },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Cart"), node("Bought")],
      edges: [opening("Home", at("shop")), edge("Home", "Bought", "click_element", { selector: "Cart" })],
    }),
    blocks: () => [go("Bought"), sees("Thank you")],
    expected: failed("NAVIGATION_FAILED"),
  },
];

export const moreBugs: Runs = [
  ...onPage(failed("ELEMENT_NOT_ACTIONABLE"), {
    "a button is hidden": [
      html("<button style='display:none'>Pay</button><p>Pay here</p>"),
      act("click_element", { selector: "css=button", timeout_ms: deadlineMs }),
      sees("Pay here"),
    ],
  }),
  ...onPage(failed("VERIFICATION_FAILED"), {
    "a script of the page fails while a tracker of another host is down": [
      html(
        "<h1>Shop</h1><script>fetch('http://localhost:1/track').catch(() => {}); total.textContent = 1</script>",
      ),
      sees("Total 42"),
    ],
    "a check inside a loop": [
      shop,
      { id: "twice", type: "loop", iterations: 2, body: loopBody(sees("Thank you")) },
    ],
  }),
  ...onPage(failed("ELEMENT_NOT_FOUND"), {
    "failure actions end, and the reason is the action's": [
      shop,
      { ...click("Pay"), failure_actions: [{ command: "press_key", params: { key: "Escape" } }] },
      sees("Paid"),
    ],
  }),
  {
    name: "a server error is the main page (500), and nothing checks it",
    pages: { shop: html("<h1>Server error</h1>", 500) },
    app: ({ at }) => ({ nodes: [entry, node("Home")], edges: [opening("Home", at("shop"))] }),
    blocks: () => [go("Home"), click("Save"), sees("Saved")],
    expected: failed("NAVIGATION_FAILED"),
  },
  {
    name: "the app's own address answers 503",
    pages: { shop: html("<h1>Down for maintenance</h1>", 503) },
    app: ({ at }) => ({
      url: at("shop"),
      nodes: [entry, node("Home", "Welcome")],
      edges: [{ source: "Start", target: "Home", action_sets: [{}] }],
    }),
    blocks: () => [go("Home")],
    expected: failed("NAVIGATION_FAILED"),
  },
  {
    name: "another status than expected",
    pages: { shop },
    blocks: ({ at }) => [open(at("shop"), { expect_status: 404 }), sees("Shop")],
    expected: failed("NAVIGATION_FAILED"),
  },
  {
    name: "a link leads to a page that is not there",
    pages: { shop: html("<a href=gone>Cart</a>"), gone: html("gone", 404) },
    blocks: ({ at }) => [open(at("shop")), click("Cart"), click("Buy", "buy"), sees("Bought")],
    expected: failed("NAVIGATION_FAILED"),
  },
  {
    name: "both ways to a screen fail, the second for want of its text",
    pages: { shop },
    app: ({ at }) => ({
      nodes: [entry, node("Home", "Shop"), node("Cart", "Your cart")],
      edges: [
        opening("Home", at("shop")),
        edge("Home", "Cart", "click_element", { selector: "Save", timeout_ms: deadlineMs }),
      ],
    }),
    blocks: () => [go("Cart")],
    expected: failed("VERIFICATION_FAILED"),
  },
  {
    name: "an endpoint answers 500 to a test that expects 200",
    pages: { api: html("{}", 500) },
    blocks: ({ at }) => [{ ...gate(at("api")), expect_status: 200 }],
    expected: failed("VERIFICATION_FAILED"),
  },
];

function loopBody(block: Given): Given {
  return {
    blocks: [{ id: "start", type: "start" }, block, { id: "done", type: "success" }],
    edges: [
      { from: "start", to: block.id },
      { from: block.id, to: "done" },
    ],
  };
}
