/** The words for the state of a thing, as `element_state` takes them. `states.ts` says what each means. */
export const stateWords = [
  "checked",
  "unchecked",
  "mixed",
  "on",
  "off",
  "selected",
  "pressed",
  "expanded",
  "collapsed",
  "open",
  "closed",
  "current",
  "enabled",
  "disabled",
  "editable",
  "readonly",
  "required",
  "optional",
  "invalid",
  "valid",
  "busy",
  "focused",
] as const;
export type StateWord = (typeof stateWords)[number];

/** Other ways to say them in the words of a test. */
export const stateSynonyms: Readonly<Record<string, StateWord>> = {
  ticked: "checked",
  unticked: "unchecked",
  "switched on": "on",
  "switched off": "off",
  "turned on": "on",
  "turned off": "off",
  indeterminate: "mixed",
  "partially checked": "mixed",
  "read-only": "readonly",
  "read only": "readonly",
  mandatory: "required",
  loading: "busy",
};
