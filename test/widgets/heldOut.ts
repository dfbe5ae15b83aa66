import { type Widget, widget } from "./list.ts";

/** Of other kinds than the forty, and chosen after them: at their first run nothing of the product was made with these in view. */
export const heldOut: readonly Widget[] = [
  widget(
    "glightbox",
    "image lightbox",
    "glightbox@3.3.1",
    "Open the photo Harbour and go on to the photo after it.",
  ),
  widget(
    "mediaelement",
    "video player",
    "mediaelement@7.1.0",
    "Mute the video, turn on its English subtitles and play it.",
  ),
  widget(
    "cookieconsent",
    "cookie consent",
    "vanilla-cookieconsent@3.1.0",
    "Allow the analytics cookies, but not those for advertising.",
  ),
  widget(
    "ninjakeys",
    "command palette",
    "ninja-keys@1.2.2",
    "Open the command palette with Control+K and change the theme to dark.",
  ),
  widget(
    "duallistbox",
    "dual list box",
    "bootstrap4-duallistbox@4.0.2",
    "Move Apple and Cherry to the chosen side.",
  ),
  widget(
    "imgcomparison",
    "image comparison slider",
    "img-comparison-slider@8.0.7",
    "Move the divider so that the picture from before takes at least 80 % of the width.",
  ),
  widget(
    "jsonedit",
    "JSON editor",
    "json-edit-react@1.30.2",
    "Set the port of the server to 8080 and delete the key legacy.",
  ),
  widget("gantt", "Gantt chart", "frappe-gantt@1.2.2", "Put off the task Release by at least a week."),
  widget(
    "tomselect",
    "combobox that takes new items",
    "tom-select@2.6.2",
    "Choose the label bug, and add the label flaky, which is not in the list.",
  ),
  widget(
    "tribute",
    "mention box",
    "tributejs@5.1.3",
    'Write "Please review, " and mention Gordon Ramsey by choosing him from the suggestions.',
  ),
];
