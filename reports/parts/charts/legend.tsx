import type { ComponentChildren, VNode } from "preact";

/** The colors of a chart with their names. */
export function Legend({ parts, children }: LegendProps): VNode {
  return (
    <ul class="key">
      {parts.map(({ name, color }) => (
        <li>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" fill={color} />
          </svg>
          <bdi>{name}</bdi>
        </li>
      ))}
      {children}
    </ul>
  );
}

interface LegendProps {
  readonly parts: readonly { readonly name: string; readonly color: string }[];
  /** More entries, each a list item. */
  readonly children?: ComponentChildren;
}
