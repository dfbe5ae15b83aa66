/** A long text, folded. */
export const Text = ({ title, text }: { title: string; text: string | undefined }) =>
  text === undefined ? null : (
    <details>
      <summary class="soft small">{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
