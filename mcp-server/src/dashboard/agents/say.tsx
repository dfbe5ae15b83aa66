import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export const Field = ({ label, value, set }: { label: string; value: string; set(text: string): void }) => (
  <label class="say">
    <span class="soft small">{label}</span>
    <input value={value} onInput={(event) => set(event.currentTarget.value)} />
  </label>
);

type SayProps = { label: string; isBusy: boolean; say(text: string): void; children?: ComponentChildren };

/** A field and a button that sends what is in it; `children` are further fields. */
export function Say({ label, isBusy, say, children }: SayProps) {
  const [text, setText] = useState("");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy || text.trim() === "") return;
        say(text);
        setText("");
      }}
    >
      <Field label={label} value={text} set={setText} />
      {children}
      <button type="submit" class="main" disabled={isBusy}>
        Send
      </button>
    </form>
  );
}
