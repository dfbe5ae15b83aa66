/**
 * Names of things, known by their form, and the word for what they are. Order counts: what an earlier form has read is no
 * longer there for a later one.
 */
const forms: readonly [RegExp, string][] = [
  [/"[^"]*"|«[^»]*»|“[^”]*”|„[^“”]*[“”]|(?<!\p{L})'[^']{2,}'(?!\p{L})/gu, " quoted "],
  [/\S+@\S+\.\w+/gu, " mail address "],
  [/\bhttps?:\/\/\S+/giu, " url "],
  [/\b[\w-]+\.ya?ml\b/giu, " yaml file "],
  [/\b[\w-]+\.(?:py|m?js|ts|sh)\b/giu, " script file "],
  [/\b(?:[\w-]+\.)+(?:com|org|net|io|de|fr|uk|example|test|local)\b\S*/giu, " url "],
  [/(?<=\s|^)\/[\w-]+(?:\/[\w-]+)+/gu, " url "],
  [
    /(?<=\b(?:app|appli|model|modell|modèle|interface|userinterface|node|knoten|nœud|script|skript)\s)[\p{L}\d]+(?:_[\p{L}\d]+)+\b/giu,
    " ",
  ],
  [
    /\b\w+(?:_(?:web|app|ios|android|mobile|tv|stb|desktop))\b|\b(?:web|app|ios|android|mobile)_\w+/giu,
    " app ",
  ],
  [/\b[\p{L}\d]+(?:_[\p{L}\d]+)+\b/gu, " testcase "],
  [/\b(?:TC|TEST)-?\d+\b/gu, " testcase "],
  [/\bAL(?:R|ERT|ARM)?-\d+\b/gu, " alert # "],
  [/\b(?:RUN|EXEC?|LAUF)-\d{3,}\b/gu, " execution # "],
  [/\b(?:[A-Z]+-)?(?:REQ|EX|US|ANF)-?\d+\b|\b[A-Z]{2,}-\d{1,5}\b/gu, " requirement reqcode "],
  [/\b(?:run|lauf|execution|exécution|exec|job)\s+#?\d+/giu, " execution # "],
  [/\b(?:alert|alarm|alerte|alarme)\s+#?\d+/giu, " alert # "],
  [/\b[a-z][a-z\d]*(?:-[a-z\d]+)*-[a-z]*\d+[a-z]?\b/gu, " $& device "],
  [/\b\w+\s*(?:->|→)\s*\w+/giu, " edge "],
];

/** The text with each name as the kind of thing that it names. */
export function namesByKind(text: string): string {
  return forms.reduce((plain, [form, kind]) => plain.replace(form, kind), text);
}
