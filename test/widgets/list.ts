/** A widget that others wrote, and what a person is to do with it. `version` is the one that test/package.json pins. */
export type Widget = { name: string; kind: string; package: string; version: string; task: string };

/** `source` is the package and its version, as npm takes them. */
export const widget = (name: string, kind: string, source: string, task: string): Widget => {
  const at = source.lastIndexOf("@");
  return { name, kind, package: source.slice(0, at), version: source.slice(at + 1), task };
};

/** Chosen by kind, each before anything was tried on it. The tasks are what their users do with them. */
export const widgets: readonly Widget[] = [
  widget("flatpickr", "date picker", "flatpickr@4.6.13", "Set the due date to 14 March 2027."),
  widget("litepicker", "date range picker", "litepicker@2.0.12", "Choose a stay from 10 May to 15 May 2027."),
  widget("timepicker", "time picker", "timepicker-ui@4.4.0", "Set the meeting to 9:30 PM."),
  widget("pickr", "colour picker", "@simonwep/pickr@1.10.2", "Set the background to #2E7D32 and save it."),
  widget("nouislider", "slider", "nouislider@15.8.1", "Set the price range to 200 to 800."),
  widget("jstree", "tree", "jstree@3.3.17", "Select Budget 2027, which is in Documents, Reports."),
  widget("treeselect", "tree select", "treeselectjs@0.14.2", "Choose the places Chelsea and Paris."),
  widget("sortable", "sortable list", "sortablejs@1.15.7", 'Move "Write tests" to the top of the list.'),
  widget(
    "kanban",
    "kanban board",
    "@hello-pangea/dnd@18.0.1",
    'Move the card "Fix login" from To do to Done.',
  ),
  widget(
    "datagrid",
    "data grid",
    "react-data-grid@7.0.0-beta.59",
    "Sort by revenue, largest first, and rename the customer in the first row to Zenith.",
  ),
  widget("gridjs", "table with search", "gridjs@6.2.0", "Search for Hamburg and go to the second page."),
  widget("spreadsheet", "spreadsheet", "jspreadsheet-ce@5.0.4", "Enter 1200 as the rent of March."),
  widget("quill", "rich-text editor", "quill@2.0.3", 'Write "Hello team", with only "team" in bold.'),
  widget("codemirror", "code editor", "codemirror@6.0.2", 'Replace the code by "const answer = 42;".'),
  widget(
    "easymde",
    "Markdown editor",
    "easymde@2.21.0",
    'Write "Ready to ship" and make it a heading with the toolbar.',
  ),
  widget(
    "sceditor",
    "editor in a frame",
    "sceditor@3.2.1",
    'Write "Dear customer" and centre it with the toolbar.',
  ),
  widget(
    "inputmask",
    "masked input",
    "inputmask@5.0.10",
    "Enter the phone number (555) 123-4567 and the birthday 24/12/1990.",
  ),
  widget(
    "autocomplete",
    "autocomplete",
    "accessible-autocomplete@3.0.1",
    'Type "nor" and choose Norway from the suggestions.',
  ),
  widget("choices", "multiple select", "choices.js@11.2.4", "Choose Cherry too, and remove Banana."),
  widget(
    "tagify",
    "tags input",
    "@yaireo/tagify@4.38.0",
    "Add the tags urgent and backend, and remove draft.",
  ),
  widget(
    "telephone",
    "telephone field",
    "intl-tel-input@29.5.1",
    "Choose Switzerland as the country and enter the number 044 668 18 00.",
  ),
  widget("virtuallist", "virtual list", "react-window@2.5.3", "Star message 250 of the list."),
  widget("menubar", "menu bar", "accessible-menu@4.4.0", "Choose File, Export, PDF."),
  widget(
    "contextmenu",
    "context menu",
    "vanilla-context-menu@1.6.0",
    "Rename report.txt by its context menu: choose Rename.",
  ),
  widget("micromodal", "modal", "micromodal@0.7.0", "Open the terms and accept them."),
  widget("notyf", "toast", "notyf@3.10.0", "Save, and dismiss the message that appears."),
  widget("splide", "carousel", "@splidejs/splide@4.1.4", "Go to the fourth slide."),
  widget("dropzone", "file drop", "dropzone@6.3.5", "Attach the file notes.txt."),
  widget(
    "stepper",
    "stepper",
    "bs-stepper@1.7.0",
    "Enter the name Ada, go on, choose Express, go on, and place the order.",
  ),
  widget("tabs", "web component", "@github/tab-container-element@4.9.0", "Show the tab Billing."),
  widget(
    "emoji",
    "web component with a shadow tree",
    "emoji-picker-element@1.29.1",
    "Search for rocket and pick it.",
  ),
  widget("leaflet", "map", "leaflet@1.9.4", "Zoom in once and open the popup of the marker Lisbon."),
  widget("uplot", "chart on a canvas", "uplot@1.6.32", "Hide the series RAM."),
  widget("stars", "star rating", "star-rating.js@4.3.1", "Rate it with four stars."),
  widget("tippy", "popover", "tippy.js@6.3.7", "Hover over Details and press Copy link in what appears."),
  widget("driver", "guided tour", "driver.js@1.8.0", "Start the tour and go to its third step."),
  widget("accordion", "accordion", "accordion-js@3.4.1", "Open the section Returns."),
  widget("split", "split panes", "split.js@1.6.5", "Make the left pane at least 60 % wide."),
  widget(
    "calendar",
    "event calendar",
    "@event-calendar/build@5.10.1",
    "Go to the next month and open the event Team offsite.",
  ),
  widget("gridstack", "dashboard", "gridstack@14.1.0", "Move the tile Sales below the tile News."),
];

/** Of these every run of the tests has the task; `npm run accept -- --step 5` has all. */
export const tenth: readonly string[] = ["inputmask", "kanban", "tabs", "stepper"];
