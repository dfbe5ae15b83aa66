import {
  type Action,
  type App,
  button,
  checkBox,
  column,
  field,
  type Glance,
  heading,
  icon,
  item,
  list,
  row,
  scrollArea,
  spinner,
  text,
  type Values,
  type View,
  when,
} from "../views.ts";

/** The shop of test/shop as an Android app: the same names, texts and rules, so that one test case runs on both. */
const products = [
  { name: "Lamp", price: 40, stock: 3 },
  { name: "Chair", price: 80, stock: 5 },
  { name: "Table", price: 200, stock: 0 },
  { name: "Rug", price: 60, stock: 2 },
];

const notFound = { name: "Not found", price: 0, stock: 0 };

const count = (values: Values, name: string) => Number(values[`cart ${name}`] ?? 0);
const countAll = (values: Values) => products.reduce((sum, { name }) => sum + count(values, name), 0);

const navigation = (values: Values): View =>
  row(
    [
      button("Shop", [{ do: "switch to", screen: "shop" }]),
      button("Cart", [{ do: "switch to", screen: "cart" }]),
      button("Account", [{ do: "switch to", screen: "account" }]),
      text(`${countAll(values)} in the cart`, { id: "count", weight: 1 }),
    ],
    { id: "navigation", height: 64 },
  );

const problem = (values: Values): View[] =>
  values.wrong ? [text(String(values.wrong), { id: "error" })] : [];

const page = (view: (glance: Glance) => View[]) => (glance: Glance) =>
  column([navigation(glance.values), ...view(glance)]);

const shop = page(({ values }) => {
  const wanted = String(values.search ?? "").toLowerCase();
  const shown = products
    .filter(({ name, stock }) => name.toLowerCase().includes(wanted) && (stock > 0 || values.stock !== true))
    .sort((a, b) => (values.sort === "By price" ? a.price - b.price : a.name < b.name ? -1 : 1));
  return [
    heading("Shop"),
    field("search", "Search", values),
    spinner("sort", "Sort", ["By name", "By price"], values),
    checkBox("stock", "In stock only", values),
    ...(shown.length === 0 ? [text("Nothing was found", { id: "none" })] : []),
    list(
      "products",
      shown.map(({ name, price }) =>
        item(
          name,
          [{ do: "go", screen: "product", with: { product: name } }],
          [text(`${price} €`, { width: 96 })],
        ),
      ),
    ),
  ];
});

const product = page(({ values }) => {
  const { name, price, stock } = products.find((one) => one.name === values.product) ?? notFound;
  return [
    heading(name),
    text(`${price} €`, { id: "price" }),
    text(`${stock} in stock`),
    button("Buy", [{ do: "add", value: `cart ${name}`, amount: 1 }], { isDisabled: stock === 0 }),
  ];
});

const line = (name: string, price: number, amount: number): View =>
  row(
    [
      text(name, { weight: 1 }),
      text(String(amount), { width: 40 }),
      text(`${price * amount} €`, { width: 80 }),
      icon("more", [{ do: "add", value: `cart ${name}`, amount: 1 }], { description: `More ${name}` }),
      icon("remove", [{ do: "set", value: `cart ${name}`, to: 0 }], { description: `Remove ${name}` }),
    ],
    { name, height: 64, padding: 8 },
  );

const useCoupon = when(
  { value: "coupon", is: "SPRING" },
  [
    { do: "set", value: "off", to: 10 },
    { do: "set", value: "wrong", to: "" },
  ],
  [{ do: "set", value: "wrong", to: "This coupon is not known" }],
);

const cart = page(({ values }) => {
  const lines = products.filter(({ name }) => count(values, name) > 0);
  if (lines.length === 0) return [heading("Your cart"), text("The cart is empty")];
  const sum = lines.reduce((total, { name, price }) => total + price * count(values, name), 0);
  return [
    heading("Your cart"),
    column(lines.map(({ name, price }) => line(name, price, count(values, name)))),
    row([
      text("Total", { width: 80 }),
      text(`${(sum * (100 - Number(values.off))) / 100} €`, { id: "total" }),
    ]),
    field("coupon", "Coupon", values),
    button("Use it", [useCoupon], { id: "use" }),
    ...problem(values),
    button("Check out", [{ do: "go", screen: "checkout", with: { name: "{{signedIn}}" } }]),
  ];
});

const wrong = (to: string): readonly Action[] => [{ do: "set", value: "wrong", to }];
const placeOrder: readonly Action[] = [
  ...products.map(({ name }): Action => ({ do: "set", value: `cart ${name}`, to: 0 })),
  { do: "replace", screen: "thanks", with: { country: "{{country}}" } },
];
const acceptTerms = when({ value: "terms", is: true }, placeOrder, wrong("The terms are not accepted"));
const checkEmail = when({ value: "email", matches: /^\S+@\S+$/ }, [acceptTerms], wrong("Email is wrong"));
const checkName = when({ value: "name", matches: /./ }, [checkEmail], wrong("Name is missing"));

const checkout = page(({ values }) => [
  heading("Check out"),
  scrollArea([
    field("name", "Name", values),
    field("email", "Email", values),
    spinner("country", "Country", ["Austria", "France"], values),
    checkBox("terms", "I accept the terms", values),
    ...problem(values),
    button("Order", [checkName]),
  ]),
]);

const logIn = when(
  { value: "password", is: "secret" },
  [
    { do: "set", value: "signedIn", to: "{{user}}" },
    { do: "set", value: "wrong", to: "" },
  ],
  wrong("User or password is wrong"),
);

const account = page(({ values }) =>
  values.signedIn
    ? [
        heading("Account"),
        text(`Welcome, ${values.signedIn}`),
        button("Log out", [{ do: "set", value: "signedIn", to: "" }]),
      ]
    : [
        heading("Account"),
        field("user", "User", values),
        field("password", "Password", values, { isPassword: true }),
        button("Log in", [logIn]),
        ...problem(values),
      ],
);

export const shopApp: App = {
  packageName: "dev.labwright.shop",
  label: "Lamp and Chair",
  kept: { signedIn: "", off: 0, ...Object.fromEntries(products.map(({ name }) => [`cart ${name}`, 0])) },
  links: {
    scheme: "labshop",
    screens: { shop: "", product: "product", cart: "", account: "", checkout: "" },
  },
  screens: {
    shop: { activity: ".Main", view: shop },
    product: { activity: ".Product", view: product },
    cart: { activity: ".Cart", view: cart },
    checkout: { activity: ".Checkout", view: checkout },
    thanks: {
      activity: ".Thanks",
      view: page(({ values }) => [
        heading("Thank you"),
        text(`Your order goes to ${values.country || "Austria"}`),
      ]),
    },
    account: { activity: ".Account", view: account },
  },
};
