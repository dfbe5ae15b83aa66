import { sixUsers } from "./shopPage.ts";
import { act, check, failed, type Given, open, passed, type Run, sees } from "./verdictRun.ts";

const users = ["plain", "locked", "broken", "slow", "erring", "visual"] as const;
type User = (typeof users)[number];
type Expected = Run["expected"];

const click = (selector: string): Given => act("click_element", { selector });
const type = (selector: string, text: string): Given => act("input_text", { selector, text });
const cart = (count: number): Given => check("element_visible", { selector: `Cart ${count}` });
const address: readonly Given[] = [
  click("id=cart"),
  click("Checkout"),
  type("First name", "Ada"),
  type("Last name", "Lovelace"),
  type("Postcode", "1040"),
  click("Continue"),
  sees("Overview"),
];
const notFilled = failed("INPUT_NOT_TAKEN");
const wrong = failed("VERIFICATION_FAILED");

/** What a tester of the shop tries, with the verdict for each user who has another one than `passed`. */
const tries: readonly { name: string; steps: readonly Given[]; but: Partial<Record<User, Expected>> }[] = [
  { name: "signs in", steps: [sees("Products")], but: {} },
  { name: "adds a thing", steps: [click("Add Backpack"), cart(1)], but: {} },
  {
    name: "adds another thing",
    steps: [click("Add Bike light"), cart(1)],
    but: { broken: wrong, erring: wrong },
  },
  {
    name: "adds and removes a thing",
    steps: [click("Add Backpack"), click("Remove Backpack"), check("element_hidden", { selector: "Cart 1" })],
    but: { broken: wrong, erring: wrong },
  },
  {
    name: "sorts by price",
    steps: [
      act("select_option", { selector: "id=sort", option: "Price" }),
      check("element_text", { selector: "css=li:first-child b", text: "Onesie" }),
    ],
    but: { broken: notFilled, erring: notFilled },
  },
  {
    name: "reads a price",
    steps: [check("element_text", { selector: "css=li:first-child span", text: "$29.99" })],
    but: { visual: wrong },
  },
  {
    name: "looks where the cart is",
    steps: [check("layout", { selector: "id=cart", is: "above", of_selector: "id=sort" })],
    but: { visual: wrong },
  },
  {
    name: "sees two pictures",
    steps: [
      check("element_count", { selector: "css=li:first-child + li img:not([src*='%3E0%3C'])", count: 1 }),
    ],
    but: { broken: wrong },
  },
  {
    name: "gives an address",
    steps: [click("Add Backpack"), ...address],
    but: { broken: notFilled, erring: notFilled },
  },
  {
    name: "orders",
    steps: [
      click("Add Onesie"),
      ...address,
      sees("Total $8.63"),
      click("Finish"),
      sees("Thank you for your order"),
    ],
    but: { broken: notFilled, erring: notFilled },
  },
  {
    name: "goes back to the shop",
    steps: [click("Add Backpack"), click("id=cart"), click("Continue shopping"), sees("Products"), cart(1)],
    but: {},
  },
];

/** Each try by each user. */
export const shopRuns: readonly Run[] = users.flatMap((user) =>
  tries.map(({ name, steps, but }): Run => {
    const expected = user === "locked" ? wrong : (but[user] ?? passed);
    return {
      name: `${user} ${name}`,
      cause: expected === passed ? "none" : "app bug",
      pages: { shop: sixUsers },
      timeoutMs: 35_000,
      blocks: ({ at }) =>
        [
          open(at("shop")),
          type("User", user),
          type("Password", "sauce"),
          click("role=button[name='Sign in']"),
          check("element_visible", { selector: user === "locked" ? "This user is locked out." : "id=cart" }),
          ...(user === "locked" ? [sees("Products")] : steps),
        ].map((step, at) => ({ ...step, id: `step${at}` })),
      expected,
    };
  }),
);
