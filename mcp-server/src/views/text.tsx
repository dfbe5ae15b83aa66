/** A text that scrolls, also by keyboard. */
export const Scrolled = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  <pre tabIndex={0}>{text}</pre>
);

/** A long text, folded. */
export const Text = ({ title, text }: { title: string; text: string | undefined }) =>
  text === undefined ? null : (
    <details>
      <summary class="soft small">{title}</summary>
      <Scrolled text={text} />
    </details>
  );
