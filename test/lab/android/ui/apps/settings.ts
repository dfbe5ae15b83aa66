import {
  type App,
  column,
  type Glance,
  heading,
  item,
  list,
  seekBar,
  text,
  toggle,
  type View,
} from "../views.ts";

const switches = ["Wi-Fi", "Bluetooth", "Airplane mode", "Location", "Auto-rotate screen", "Do not disturb"];
const pages = [
  ...["Network and internet", "Connected devices", "Apps", "Notifications", "Battery", "Storage", "Sound"],
  ...["Vibration", "Display", "Brightness", "Wallpaper", "Accessibility", "Security", "Privacy", "Safety"],
  ...["Passwords", "Digital wellbeing", "Parental controls", "System", "Languages", "Keyboard", "Gestures"],
  ...["Date and time", "Backup", "Updates", "Developer options", "Printing", "Cast", "VPN", "Hotspot"],
  ...["Data saver", "Mobile network", "SIM cards", "Ringtone", "Alarm sound", "Screen saver", "Font size"],
  "Color correction",
];

const line = (name: string): View =>
  name === "Display"
    ? item(name, [{ do: "go", screen: "display" }])
    : item(name, [{ do: "go", screen: "page", with: { page: name } }]);

const main = ({ values }: Glance): View =>
  column([
    heading("Settings"),
    list("recycler_view", [
      ...switches.map((name) => toggle(name, name, values, { height: 64 })),
      ...pages.map(line),
      item("About phone", [{ do: "go", screen: "about" }]),
    ]),
  ]);

const display = ({ values }: Glance): View =>
  column([
    heading("Display"),
    toggle("Adaptive brightness", "Adaptive brightness", values),
    seekBar("brightness", "Brightness level", values),
    text(`Brightness ${values.brightness} %`),
  ]);

export const settings: App = {
  packageName: "com.android.settings",
  label: "Settings",
  kept: { ...Object.fromEntries(switches.map((name) => [name, name === "Wi-Fi"])), brightness: 50 },
  links: { scheme: "labsettings", screens: { main: "", page: "page", about: "" } },
  texts: {
    de: {
      Settings: "Einstellungen",
      "Airplane mode": "Flugmodus",
      Location: "Standort",
      Display: "Anzeige",
      Battery: "Akku",
      "About phone": "Über das Telefon",
    },
  },
  screens: {
    main: { activity: ".Main", view: main },
    display: { activity: ".Display", view: display },
    page: {
      activity: ".Page",
      view: ({ values }) =>
        column([heading(String(values.page ?? "Page")), text("Nothing can be changed here.")]),
    },
    about: {
      activity: ".About",
      view: () => column([heading("About phone"), text("Laboratory device"), text("Nothing of it is real.")]),
    },
  },
};
