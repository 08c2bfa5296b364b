import type { VNode } from "preact";

/** Sentences that need attention, as a list; nothing if there are none. */
export function Notes({ notes }: { readonly notes: readonly string[] }): VNode | null {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li>
          <bdi>{note}</bdi>
        </li>
      ))}
    </ul>
  );
}
