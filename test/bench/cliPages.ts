/** Pages of the tasks that an agent does from a shell; each keeps what was done in the page itself. */
const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>
<header><a href="/small">Start</a> <a href="/bills">Bills</a> <a href="/register">Register</a> <a href="/tasks">Tasks</a></header>
<main><h1>${title}</h1>${body}</main></body></html>`;

const customers = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jule", "Kim", "Lea"];
const bills = customers.map((customer, at) => {
  const cells = [4_705 + at, customer, `2026-11-${10 + at}`, `${89 + at * 7}.50 €`, at % 3 ? "paid" : "open"];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
});

const field = (label: string, type = "text"): string =>
  `<p><label>${label} <input type="${type}" required></label></p>`;
const choice = (label: string, options: readonly string[]): string =>
  `<p><label>${label} <select required>${["", ...options].map((name) => `<option>${name}</option>`).join("")}</select></label></p>`;

const register = `<form>${field("First name")}${field("Last name")}${field("Email", "email")}${field("Phone", "tel")}
${field("Street")}${field("City")}${field("Postal code")}${choice("Country", ["France", "Germany", "United Kingdom"])}
${field("Birthday", "date")}${choice("Language", ["English", "French", "German"])}
<p><label>Comments <textarea required></textarea></label></p>
<p><label><input type="checkbox" required> I accept the terms</label></p><p><button>Register</button></p></form><output></output>
<script>document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  const [first, last, , , , city, , country, birthday] = [...event.target.elements].map((one) => one.value);
  document.querySelector("output").textContent = "Registered: " + first + " " + last + ", " + city + ", " + country + ", " + birthday;
};</script>`;

const tasks = `<form><label>New task <input name="task"></label> <button>Add</button></form><ul></ul><p role="status"></p>
<script>
const list = document.querySelector("ul");
const count = () => {
  const done = list.querySelectorAll(":checked").length;
  document.querySelector("[role=status]").textContent = list.children.length + " tasks, " + done + " done";
};
function add(name) {
  const item = document.createElement("li");
  item.innerHTML = '<label><input type="checkbox"> <span></span></label> <button>Rename</button> <button>Delete</button>';
  const [rename, remove] = item.querySelectorAll("button");
  const call = (text) => {
    item.querySelector("span").textContent = text;
    rename.ariaLabel = "Rename " + text;
    remove.ariaLabel = "Delete " + text;
  };
  item.querySelector("input").onchange = count;
  remove.onclick = () => { item.remove(); count(); };
  rename.onclick = () => {
    const input = document.createElement("input");
    input.ariaLabel = "New name";
    input.onkeydown = ({ key }) => { if (key === "Enter") { call(input.value); input.remove(); } };
    item.append(input);
    input.focus();
  };
  call(name);
  list.append(item);
  count();
}
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  add(event.target.task.value);
  event.target.reset();
};
["Buy milk", "Water plants", "Write report", "Book flight"].forEach(add);
</script>`;

export const cliPages: Readonly<Record<string, string>> = {
  "/bills": page(
    "Bills",
    `<table><thead><tr>${["Number", "Customer", "Date", "Sum", "State"].map((name) => `<th>${name}</th>`).join("")}</tr></thead>
<tbody>${bills.join("")}</tbody></table>`,
  ),
  "/register": page("Register", register),
  "/tasks": page("Tasks", tasks),
};
