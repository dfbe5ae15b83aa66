import { html } from "./verdictRun.ts";

/**
 * A shop of one page that behaves otherwise for each of its six users, as shops for training testers do: `plain`, `locked`,
 * `broken`, `slow` (its script is busy for 5.1 s), `erring` (its handlers throw) and `visual` (it looks wrong and works).
 */
export const sixUsers = html(`<title>Shop</title>
<style>
  #cart { position: absolute; top: 10px; right: 20px; }
  #cart.astray { top: 300px; right: 600px; }
  li { list-style: none; padding: 8px; }
  img { width: 20px; height: 20px; }
</style>
<form id=login><h1>Sign in</h1>
  <label>User <input id=user></label> <label>Password <input id=password type=password></label>
  <button>Sign in</button><p role=alert id=refusal></p></form>
<main id=app hidden></main>
<script>
const items = [["Backpack", 29.99], ["Bike light", 9.99], ["Bolt shirt", 15.99], ["Fleece jacket", 49.99], ["Onesie", 7.99], ["Red shirt", 15.99]];
let user, cart = [], order = "name";
const euros = (price) => "$" + price.toFixed(2);
const stall = () => { if (user === "slow") { const end = Date.now() + 5100; while (Date.now() < end); } };
const picture = (at) => "data:image/svg+xml," + encodeURIComponent("<svg xmlns='http://www.w3.org/2000/svg'><text y='9'>" + at + "</text></svg>");
function show(title, body) {
  const count = cart.length ? " " + cart.length : "";
  app.innerHTML = "<button id=cart class='" + (user === "visual" ? "astray" : "") + "' aria-label='Cart" + count + "'>Cart" + count + "</button><h1>" + title + "</h1>" + body;
  app.querySelector("#cart").onclick = basket;
}
function products() {
  const sorted = items.map(([name, price], at) => ({ name, price, at }))
    .sort((a, b) => (user !== "broken" && user !== "erring" && order === "price" ? a.price - b.price : a.name < b.name ? -1 : 1));
  show("Products", "<label>Sort by <select id=sort><option value=name>Name</option><option value=price" +
    (order === "price" ? " selected" : "") + ">Price</option></select></label><ul>" + sorted.map(({ name, price, at }) =>
      "<li><img alt='Picture of " + name + "' src=\\"" + picture(user === "broken" ? 0 : at) + "\\"> <b>" + name + "</b> <span>" +
      euros(user === "visual" ? price * (1 + Math.random()) + 0.01 : price) + "</span> <button data-item=" + at + ">" + (cart.includes(at) ? "Remove " : "Add ") + name + "</button></li>").join("") + "</ul>");
  sort.onchange = () => {
    if (user === "erring") { alert("Sorting is broken."); order = "name"; products(); return; }
    if (user === "broken") { sort.value = "name"; return; }
    order = sort.value; products();
  };
  for (const button of app.querySelectorAll("[data-item]")) button.onclick = () => toggle(Number(button.dataset.item));
}
function toggle(at) {
  const isIn = cart.includes(at);
  if (user === "broken" && (isIn || at % 2)) return;
  if (user === "erring" && (isIn || at % 2)) throw new Error("Failed to change the cart");
  cart = isIn ? cart.filter((one) => one !== at) : [...cart, at];
  products();
}
function basket() {
  show("Your cart", "<ul>" + cart.map((at) => "<li>" + items[at][0] + " " + euros(items[at][1]) + "</li>").join("") + "</ul><button id=back>Continue shopping</button><button id=checkout>Checkout</button>");
  back.onclick = () => { stall(); products(); };
  checkout.onclick = address;
}
function address() {
  show("Your address", "<form id=address><label>First name <input id=first></label><label>Last name <input id=last></label><label>Postcode <input id=postcode></label><button>Continue</button><p role=alert id=missing></p></form>");
  const astray = document.getElementById("last");
  astray.oninput = () => {
    if (user === "broken") { first.value = astray.value; astray.value = ""; }
    if (user === "erring") { astray.value = ""; throw new Error("Cannot read the last name"); }
  };
  document.getElementById("address").onsubmit = (event) => {
    event.preventDefault();
    if (!first.value || !astray.value || !postcode.value) missing.textContent = "A name or the postcode is missing.";
    else overview();
  };
}
function overview() {
  const sum = cart.reduce((all, at) => all + items[at][1], 0);
  show("Overview", "<p>Sum " + euros(sum) + "</p><p>Tax " + euros(sum * 0.08) + "</p><p>Total " + euros(sum * 1.08) + "</p><button id=finish>Finish</button>");
  finish.onclick = () => {
    if (user === "erring") throw new Error("The order could not be sent");
    cart = [];
    show("Thank you for your order", "");
  };
}
login.onsubmit = (event) => {
  event.preventDefault();
  const name = document.getElementById("user").value;
  if (name === "locked") { refusal.textContent = "This user is locked out."; return; }
  if (!["plain", "broken", "slow", "erring", "visual"].includes(name) || password.value !== "sauce") { refusal.textContent = "User and password fit no account."; return; }
  user = name;
  stall();
  login.hidden = true; app.hidden = false; products();
};
</script>`);
