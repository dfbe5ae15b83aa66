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
  radio,
  row,
  type Screen,
  scrollArea,
  seekBar,
  spinner,
  text,
  type View,
  when,
} from "../views.ts";

const playback = (positionMs: number): string => {
  const seconds = Math.floor(positionMs / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

/** A screen that plays by itself as soon as it is started; also the television's. */
export const player = (title: string): Screen => ({
  activity: ".Player",
  plays: { title, durationMs: 600_000 },
  view: ({ positionMs, isPlaying }) =>
    column([
      heading(title),
      text(playback(positionMs), { id: "position" }),
      text(isPlaying ? "Playing" : "Paused", { id: "state" }),
      row([
        button("Back 10 seconds", [{ do: "seek", byMs: -10_000 }], { weight: 1 }),
        button(isPlaying ? "Pause" : "Play", [{ do: "play or pause" }], { id: "play", weight: 1 }),
        button("On 10 seconds", [{ do: "seek", byMs: 10_000 }], { weight: 1 }),
      ]),
    ]),
});

const deleteNotes: Action = {
  do: "ask",
  dialog: {
    title: "Delete all notes?",
    message: "This cannot be undone.",
    buttons: [
      { text: "Delete", actions: [{ do: "toast", text: "All notes were deleted" }] },
      { text: "Cancel", actions: [] },
    ],
  },
};

const takePicture: Action = {
  do: "need permission",
  permission: "android.permission.CAMERA",
  yes: [{ do: "toast", text: "The camera is ready" }],
  no: [{ do: "toast", text: "The camera is not allowed" }],
};

const menu: readonly [label: string, action: Action][] = [
  ["Form", { do: "go", screen: "form" }],
  ["Text", { do: "go", screen: "text" }],
  ["Gestures", { do: "go", screen: "gestures" }],
  ["Toolbar", { do: "go", screen: "toolbar" }],
  ["Web page", { do: "go", screen: "web" }],
  ["Player", { do: "go", screen: "player" }],
  ["Secret", { do: "go", screen: "secret" }],
  ["Never at rest", { do: "go", screen: "restless" }],
  ["Show a toast", { do: "toast", text: "Hello from a toast" }],
  ["Delete notes", deleteNotes],
  ["Take a picture", takePicture],
  ["Crash", { do: "crash", reason: "java.lang.IllegalStateException: The button was pressed" }],
  ["Stop responding", { do: "hang", reason: "Input dispatching timed out" }],
];

const form: Screen = {
  activity: ".Form",
  view: ({ values }) =>
    column([
      heading("Form"),
      scrollArea([
        checkBox("news", "Send me news", values),
        radio("size", "Small", values),
        radio("size", "Large", values),
        spinner("color", "Color", ["Red", "Green", "Blue"], values),
        seekBar("amount", "Amount", values),
        text(`Amount ${values.amount ?? 0}`),
        field("comment", "Comment", values),
        button("Send", [
          when(
            { value: "comment", matches: /./ },
            [{ do: "toast", text: "Sent: {{comment}}" }],
            [{ do: "toast", text: "The comment is missing" }],
          ),
        ]),
      ]),
    ]),
};

const gestures: Screen = {
  activity: ".Gestures",
  view: ({ values }) =>
    column([
      heading("Gestures"),
      button("Hold or tap twice", [{ do: "set", value: "last", to: "tapped" }], {
        onLongPress: [{ do: "set", value: "last", to: "held" }],
        onDoubleTap: [{ do: "set", value: "last", to: "tapped twice" }],
      }),
      text(String(values.last ?? "nothing yet"), { id: "last" }),
      text("Parcel", { id: "parcel", look: "card", height: 64, isDraggable: true }),
      text(values.delivered ? "Box: full" : "Box: empty", {
        id: "box",
        look: "card",
        height: 96,
        onDrop: [{ do: "set", value: "delivered", to: true }],
      }),
      text(`Map ${values.zoom ?? 100} %`, { id: "map", look: "card", weight: 1, zooms: "zoom" }),
    ]),
};

const webPage: View = {
  className: "android.webkit.WebView",
  id: "web",
  text: "A page",
  flow: "column",
  weight: 1,
  children: [
    text("Hello from the web", { className: "android.view.View" }),
    text("A link", {
      className: "android.view.View",
      onTap: [{ do: "toast", text: "The link was tapped" }],
    }),
  ],
};

const realPage = ({ title, parts }: NonNullable<Glance["page"]>): View => ({
  ...webPage,
  text: title,
  flow: "free",
  isPage: true,
  children: parts.map((part) => ({
    className: part.className,
    id: part.resourceId,
    name: `part ${part.id}`,
    text: part.text,
    at: part.bounds,
    part,
    ...(part.isField && { field: "page", isPassword: part.isPassword, hint: part.hint ?? "" }),
    ...(part.checked !== undefined && { checked: part.checked }),
  })),
});

const note = (activity: string, title: string, content: string, more: Partial<Screen> = {}): Screen => ({
  activity,
  view: () => column([heading(title), text(content)]),
  ...more,
});

export const samples: App = {
  packageName: "dev.labwright.samples",
  label: "Samples",
  links: {
    scheme: "labsamples",
    screens: { main: "", form: "", text: "", gestures: "", player: "", web: "", secret: "" },
  },
  screens: {
    main: {
      activity: ".Main",
      view: () =>
        column([
          heading("Samples"),
          list(
            "menu",
            menu.map(([label, action]) => item(label, [action])),
          ),
        ]),
    },
    form,
    gestures,
    player: player("A long film"),
    text: {
      activity: ".Text",
      view: ({ values }) =>
        column([
          heading("Text"),
          field("note", "Note", values),
          field("pin", "PIN", values, { isPassword: true }),
          text(`You wrote: ${values.note ?? ""}`, { id: "echo" }),
        ]),
    },
    toolbar: {
      activity: ".Toolbar",
      view: () =>
        column([
          row([
            icon("search", [{ do: "toast", text: "Search was tapped" }]),
            icon("share", [{ do: "toast", text: "Share was tapped" }], { description: "Share" }),
            { ...icon("", [{ do: "toast", text: "The third was tapped" }]), className: "android.view.View" },
          ]),
          heading("Toolbar"),
        ]),
    },
    web: {
      activity: ".Web",
      view: ({ page }) => column([heading("Web page"), page ? realPage(page) : webPage]),
    },
    secret: note(".Secret", "Secret", "No picture may be taken of this.", { isSecure: true }),
    restless: note(".Restless", "Never at rest", "Something here always moves.", { neverIdle: true }),
  },
};
