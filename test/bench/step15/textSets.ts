import type { WrittenText } from "../../fixtures/writtenPictures.ts";

export type BenchText = { text: string; language: "eng" | "fra" | "deu" };

const of = (language: BenchText["language"], texts: readonly string[]): BenchText[] =>
  texts.map((text) => ({ text, language }));

export const knownTexts: readonly BenchText[] = [
  ...of("eng", [
    "Settings",
    "Continue watching",
    "TV Shows",
    "Recently added movies",
    "Channel 102",
    "Sign in",
    "BBC Two HD",
    "Newsnight 22:30 - 23:15",
    "Audio and subtitles",
    "Parental controls",
    "Search for films",
    "Add to watchlist",
    "Episode 7 of 12",
    "Network connection lost",
    "Try again",
    "Skip intro",
    "Free for 30 days",
    "Volume 45%",
  ]),
  ...of("fra", [
    "Réglages système",
    "Reprendre la lecture",
    "Déjà regardé",
    "Sous-titres français",
    "Chaîne suivante",
    "Accès refusé",
    "Télécharger",
    "Où regarder ce soir ?",
  ]),
  ...of("deu", ["Einstellungen", "Weiter schauen", "Größe ändern", "Zurück zum Menü"]),
];

/** Written down after the reader was settled, and never used to settle it. */
export const heldOutTexts: readonly BenchText[] = [
  ...of("eng", [
    "My recordings",
    "Watch live",
    "Season 3",
    "Picture quality",
    "No signal on HDMI 2",
    "Restart device",
    "Kids and family",
    "Remove from favourites",
    "Software update available",
    "Record series",
  ]),
  ...of("fra", ["Enregistrements", "Qualité de l'image", "Mise à jour prête", "Éteindre", "Médiathèque"]),
  ...of("deu", ["Aufnahmen", "Für später merken", "Gerät neu starten", "Hörfilm", "Schließen"]),
];

const fonts = ["DejaVu Sans", "DejaVu Serif", "Nimbus Sans"];

/** Where the texts stand on a 1080p screen, two columns of them, 16 to 48 pixels high, in three fonts. */
export function placedTexts(texts: readonly BenchText[]): WrittenText[] {
  const rows = Math.ceil(texts.length / 2);
  return texts.map(({ text }, at) => ({
    text,
    x: at < rows ? 80 : 1_000,
    y: 70 + (at % rows) * Math.floor(1_000 / rows),
    size: 16 + ((at * 7) % 33),
    font: fonts[at % fonts.length] ?? "DejaVu Sans",
  }));
}

/** Wrong, missing and further characters. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at++)
      next.push(
        Math.min(
          (row[at] ?? 0) + 1,
          (next[at - 1] ?? 0) + 1,
          (row[at - 1] ?? 0) + (other[at - 1] === letter ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[other.length] ?? 0;
}
