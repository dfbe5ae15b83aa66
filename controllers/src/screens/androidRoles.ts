/** Roles by the end of a class's name: the first that fits. Classes of apps usually end like those that they extend. */
const roles: readonly (readonly [ending: RegExp, role: string])[] = [
  [/(?:EditText|AutoCompleteTextView|SearchAutoComplete|TextInputEditText)$/, "textbox"],
  [/RadioButton$/, "radio"],
  [/CheckBox$|CheckedTextView$/, "checkbox"],
  [/Switch(?:Compat|Material)?$|ToggleButton$/, "switch"],
  [/Spinner$/, "combobox"],
  [/(?:SeekBar|RatingBar|Slider)$/, "slider"],
  [/Button$|Chip$/, "button"],
  [/ProgressBar$|ProgressIndicator$/, "progressbar"],
  [/(?:TabWidget|TabLayout)$/, "tablist"],
  [/ImageView$|\.Image$/, "img"],
  [/TextView$/, "text"],
  [/(?:ListView|RecyclerView|ViewPager2?)$/, "list"],
  [/GridView$/, "grid"],
  [/WebView$/, "document"],
];

/** What a class of Android says; undefined for a container or a view of an app's own. */
export const roleOfClass = (className: string): string | undefined =>
  roles.find(([ending]) => ending.test(className))?.[1];
