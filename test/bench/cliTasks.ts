import { refOf } from "./dumps.ts";

/** A shell in which an agent types one of the two command lines. */
export type AgentShell = {
  /** One command; what it prints. */
  run(...words: string[]): Promise<string>;
  /** The snapshot in the file that the last reply names: what an agent reads of it without a command of its own. */
  read(): Promise<string>;
};

type Side = {
  act(shell: AgentShell, url: string): Promise<void>;
  /** The last command: whether it holds. */
  check(shell: AgentShell): Promise<boolean>;
};

/** The same task by both command lines; `path` is its page. */
export type Task = { name: string; path: string; ours: Side; theirs: Side };

const wordsOf = (commands: readonly (readonly string[])[]): string[] =>
  commands.flatMap((command, at) => (at === 0 ? command : ["then", ...command]));

/** `labwright do` with all that belongs together in one line. */
const doAll = (shell: AgentShell, ...commands: readonly string[][]): Promise<string> =>
  shell.run("do", ...wordsOf(commands));

/** `labwright check` ends with 0 where all hold, and prints what does not. */
const ourCheck =
  (...checks: readonly string[][]) =>
  async ({ run }: AgentShell): Promise<boolean> =>
    (await run("check", ...wordsOf(checks))).startsWith("passed");

/** It has no checks of its own; what an expression gives is the shortest answer. */
const theirCheck =
  (expression: string) =>
  async ({ run }: AgentShell): Promise<boolean> =>
    (await run("--raw", "eval", expression)).trim() === "true";
const shows = (text: string): string => `document.body.innerText.includes('${text}')`;

/** Opens a page and reads its snapshot. */
async function opened({ run, read }: AgentShell, url: string): Promise<string> {
  await run("--raw", "open", url);
  return read();
}

const person = { Email: "ada@example.com", Password: "correct horse" };
const signIn = [
  ...Object.entries(person),
  ["Organisation", "Example Ltd"],
  ["One-time code", "493022"],
] as const;

const login: Task = {
  name: "login",
  path: "/login",
  ours: {
    async act(shell, url) {
      const page = await doAll(shell, ["open", url]);
      await doAll(
        shell,
        ...signIn.map(([label, value]) => ["fill", refOf(page, label), value]),
        ["tick", refOf(page, "Remember me"), "true"],
        ["click", refOf(page, "Sign in", "button")],
      );
    },
    check: ourCheck(["text", "Welcome, Ada"]),
  },
  theirs: {
    async act(shell, url) {
      const page = await opened(shell, url);
      for (const [label, value] of signIn) await shell.run("--raw", "fill", refOf(page, label), value);
      await shell.run("--raw", "check", refOf(page, "Remember me"));
      await shell.run("--raw", "click", refOf(page, "Sign in", "button"));
    },
    check: theirCheck(shows("Welcome, Ada")),
  },
};

/** What bill 4711 comes to: its row is looked for, and what stands there is checked. Their look is their check, too. */
const sum = "131.50 €";
const table: Task = {
  name: "a table read",
  path: "/bills",
  ours: {
    async act(shell, url) {
      await doAll(shell, ["open", url]);
      const rows = await shell.run("look", "--find", "4711");
      if (!rows.includes(sum)) throw new Error(`The row does not show ${sum}: ${rows}`);
    },
    check: ourCheck(["cell", "css=table", "4711", "Sum", sum]),
  },
  theirs: {
    async act(shell, url) {
      await shell.run("--raw", "open", url);
    },
    check: async ({ run }) => (await run("--raw", "find", "4711")).includes(sum),
  },
};

const texts = {
  ...{ "First name": "Ada", "Last name": "Lovelace", Email: "ada@example.com", Phone: "+44 20 7946 0000" },
  ...{ Street: "12 St James's Square", City: "London", "Postal code": "SW1Y 4JH", Birthday: "1815-12-10" },
  ...{ Comments: "By post, please" },
};
const choices = { Country: "United Kingdom", Language: "English" };
const registered = "Registered: Ada Lovelace, London, United Kingdom, 1815-12-10";

const form: Task = {
  name: "a form of twelve fields",
  path: "/register",
  ours: {
    async act(shell, url) {
      const page = await doAll(shell, ["open", url]);
      await doAll(
        shell,
        ...Object.entries(texts).map(([label, value]) => ["fill", refOf(page, label), value]),
        ...Object.entries(choices).map(([label, value]) => ["select", refOf(page, label), value]),
        ["tick", refOf(page, "I accept the terms"), "true"],
        ["click", refOf(page, "Register", "button")],
      );
    },
    check: ourCheck(["text", registered]),
  },
  theirs: {
    async act(shell, url) {
      const page = await opened(shell, url);
      const ref = (label: string) => refOf(page, label);
      for (const [label, value] of Object.entries(texts)) await shell.run("--raw", "fill", ref(label), value);
      for (const [label, value] of Object.entries(choices))
        await shell.run("--raw", "select", ref(label), value);
      await shell.run("--raw", "check", ref("I accept the terms"));
      await shell.run("--raw", "click", refOf(page, "Register", "button"));
    },
    check: theirCheck(shows(registered)),
  },
};

/** Each page of the shop is seen before what is on it is used. */
const order: Task = {
  name: "an order",
  path: "/shop",
  ours: {
    async act(shell, url) {
      const shop = await doAll(shell, ["open", url]);
      const lamp = await doAll(shell, ["click", refOf(shop, "Lamp")]);
      const cart = await doAll(shell, ["click", refOf(lamp, "Buy")], ["click", refOf(shop, "Cart")]);
      const address = await doAll(shell, ["click", refOf(cart, "Check out")]);
      await doAll(
        shell,
        ["fill", refOf(address, "Name"), "Ada"],
        ["fill", refOf(address, "Email"), "ada@example.com"],
        ["select", refOf(address, "Country"), "France"],
        ["tick", refOf(address, "I accept the terms"), "true"],
        ["click", refOf(address, "Order", "button")],
      );
    },
    check: ourCheck(["text", "Your order goes to France"]),
  },
  theirs: {
    async act(shell, url) {
      const { run, read } = shell;
      const shop = await opened(shell, url);
      await run("--raw", "click", refOf(shop, "Lamp"));
      await run("--raw", "click", refOf(await read(), "Buy"));
      await run("--raw", "click", refOf(await read(), "Cart"));
      await run("--raw", "click", refOf(await read(), "Check out"));
      const address = await read();
      await run("--raw", "fill", refOf(address, "Name"), "Ada");
      await run("--raw", "fill", refOf(address, "Email"), "ada@example.com");
      await run("--raw", "select", refOf(address, "Country"), "France");
      await run("--raw", "check", refOf(address, "I accept the terms"));
      await run("--raw", "click", refOf(address, "Order", "button"));
    },
    check: theirCheck(shows("Your order goes to France")),
  },
};

const edited = { there: ["5 tasks, 1 done", "Call Bob", "Pay rent", "Write the report"], gone: "Buy milk" };

const list: Task = {
  name: "a list edited",
  path: "/tasks",
  ours: {
    async act(shell, url) {
      const page = await doAll(shell, ["open", url]);
      const field = refOf(page, "New task");
      const renaming = await doAll(
        shell,
        ["fill", field, "Call Bob"],
        ["press", "Enter"],
        ["fill", field, "Pay rent"],
        ["press", "Enter"],
        ["click", refOf(page, "Delete Buy milk")],
        ["tick", refOf(page, "Water plants"), "true"],
        ["click", refOf(page, "Rename Write report")],
      );
      await doAll(shell, ["fill", refOf(renaming, "New name"), "Write the report"], ["press", "Enter"]);
    },
    check: ourCheck(...edited.there.map((text) => ["text", text]), ["not", "text", edited.gone]),
  },
  theirs: {
    async act(shell, url) {
      const { run, read } = shell;
      const page = await opened(shell, url);
      await run("--raw", "fill", refOf(page, "New task"), "Call Bob", "--submit");
      await run("--raw", "fill", refOf(page, "New task"), "Pay rent", "--submit");
      await run("--raw", "click", refOf(page, "Delete Buy milk"));
      await run("--raw", "check", refOf(page, "Water plants"));
      await run("--raw", "click", refOf(page, "Rename Write report"));
      await run("--raw", "fill", refOf(await read(), "New name"), "Write the report", "--submit");
    },
    check: theirCheck(
      `${JSON.stringify(edited.there).replaceAll('"', "'")}.every(t=>document.body.innerText.includes(t))&&!${shows(edited.gone)}`,
    ),
  },
};

export const cliTasks: readonly Task[] = [login, table, form, order, list];
