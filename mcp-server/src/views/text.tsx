/** A text that scrolls, also by keyboard. */
export const Scrolled = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  <pre tabIndex={0}>{text}</pre>
);

export const Lines = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );

/** A long text, folded. */
export const Text = ({ title, text }: { title: string; text: string | undefined }) =>
  text === undefined ? null : (
    <details>
      <summary class="soft small">{title}</summary>
      <Scrolled text={text} />
    </details>
  );
