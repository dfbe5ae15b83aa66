import { useState } from "preact/hooks";

/** A field and a button that sends what is in it. */
export function Say({
  label,
  button = "Send",
  isBusy,
  say,
}: {
  label: string;
  button?: string;
  isBusy: boolean;
  say(text: string): void;
}) {
  const [text, setText] = useState("");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        say(text);
        setText("");
      }}
    >
      <label class="say">
        <span class="soft small">{label}</span>
        <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="main" disabled={isBusy}>
        {button}
      </button>
    </form>
  );
}
