import { describe, expect, it } from "vitest";
import { type Ran, startUserland } from "../../../fixtures/androidUserland.ts";

const run = (script: string, input = ""): Promise<Ran> => startUserland("phone").run(script, input);
const out = async (script: string, input?: string) => (await run(script, input)).stdout;

describe("the shell", () => {
  it.each([
    ["echo a   b", "a b\n"],
    [`echo 'a   b' "c   d"`, "a   b c   d\n"],
    [`echo a\\ b\\"c`, 'a b"c\n'],
    ["echo one; echo two", "one\ntwo\n"],
    ["true && echo yes || echo no", "yes\n"],
    ["false && echo yes || echo no", "no\n"],
    ["! false && echo so", "so\n"],
    [`X=5; echo "$X" '$X' \${X} $X$X`, "5 $X 5 55\n"],
    [`echo "\${NONE:-other}"`, "other\n"],
    [`X="a  b"; echo $X "$X"`, "a b a  b\n"],
    ["X=1 sh -c 'echo $X'; echo [$X]", "1\n[]\n"],
    ["export X=2; sh -c 'echo $X'", "2\n"],
    ["sh -c 'echo $0 $1' zero one", "zero one\n"],
    ["echo $(echo in; echo side)", "in side\n"],
    ['echo "$(echo in; echo side)"', "in\nside\n"],
    ["echo `echo back`", "back\n"],
    ["false; echo $?", "1\n"],
    ["exec echo last; echo never", "last\n"],
    ["echo hi | cat | cat", "hi\n"],
    ["echo text > /sdcard/f; cat < /sdcard/f; echo more >> /sdcard/f; cat /sdcard/f", "text\ntext\nmore\n"],
    ["nosuch 2>/dev/null; echo $?", "127\n"],
    ["nosuch 2>&1 | grep -c inaccessible", "1\n"],
    ["[ -d /sdcard ] && echo folder; [ -e /nosuch ] || echo none", "folder\nnone\n"],
    ["echo a # no part of it", "a\n"],
    ["echo a#b", "a#b\n"],
    ["true & echo after", "after\n"],
    ["grep x /nosuch 2>&1; echo $?", "grep: No such file or directory\n1\n"],
    ["echo x > /system/f 2>/dev/null; echo $?", "1\n"],
    ["/system/bin/echo by path", "by path\n"],
  ])("runs %s", async (script, expected) => {
    expect(await out(script)).toBe(expected);
  });

  it("ends with the code of its last command, of exit, or of what it could not read", async () => {
    expect((await run("true; false")).code).toBe(1);
    expect((await run("exit 7; echo never")).code).toBe(7);
    expect(await run('echo "open')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("syntax error"),
    });
    expect(await run("echo a; )")).toMatchObject({ code: 1, stdout: "" });
  });
});

/** Without this, the tests of quoting in test/controllers/android/link.test.ts would prove nothing. */
it.each([
  "$(reboot)",
  "`reboot`",
  "; reboot",
  "&& reboot",
  "| reboot",
  "& reboot",
  "\n reboot \n",
  "> /sdcard/owned",
])("an unquoted %j has its effect", async (text) => {
  const userland = startUserland("phone");
  await userland.run(`echo ${text}`);
  const isOwned = userland.system.files.stat("/sdcard/owned") !== undefined;
  expect(userland.reboots === 1 || isOwned).toBe(true);
});
