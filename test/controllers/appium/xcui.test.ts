import { expect, it } from "vitest";
import { scanXcui } from "#controllers/appium/ui/xcui.ts";
import { nodesBelow } from "#controllers/screens/tree.ts";

const size = 'enabled="true" visible="true" x="0" y="0" width="390" height="844"';

it("the app in front is the first of a source, and an alert of the system behind it is read as well", () => {
  const source = `<?xml version="1.0" encoding="UTF-8"?>
<AppiumAUT>
  <XCUIElementTypeApplication type="XCUIElementTypeApplication" name="Shop" bundleId="com.example.shop" ${size}>
    <XCUIElementTypeButton type="XCUIElementTypeButton" name="continue" label="Continue" x="20" y="100" width="200" height="44"/>
  </XCUIElementTypeApplication>
  <XCUIElementTypeApplication type="XCUIElementTypeApplication" name="SpringBoard" ${size}>
    <XCUIElementTypeAlert type="XCUIElementTypeAlert" name="Allow?" label="Allow?" x="60" y="300" width="270" height="180">
      <XCUIElementTypeButton type="XCUIElementTypeButton" name="Allow" label="Allow" x="60" y="430" width="135" height="44"/>
    </XCUIElementTypeAlert>
    <XCUIElementTypeKeyboard type="XCUIElementTypeKeyboard" x="0" y="583" width="390" height="261">
      <XCUIElementTypeKey type="XCUIElementTypeKey" name="q" label="q" x="4" y="590" width="40" height="54"/>
    </XCUIElementTypeKeyboard>
  </XCUIElementTypeApplication>
</AppiumAUT>`;
  const screen = scanXcui(source);
  expect(screen).toMatchObject({ app: "com.example.shop", isKeyboardShown: true });
  const texts = screen?.roots.flatMap((root) => [...nodesBelow(root)].map(({ text }) => text));
  expect(texts?.filter((text) => text !== "")).toEqual(["Continue", "Allow?", "Allow"]);
});
