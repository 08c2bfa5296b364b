import type { VNode } from "preact";

const SPANS: readonly { readonly name: string; readonly title: string }[] = [
  { name: "month", title: "this month" },
  { name: "lastmonth", title: "last month" },
  { name: "today", title: "today" },
  { name: "yesterday", title: "yesterday" },
  { name: "7d", title: "7 days" },
  { name: "week", title: "this week" },
  { name: "lastweek", title: "last week" },
];

/** A form for the time of a view, and for the policy if several are kept. It works without a script. */
export function SpanForm({ path, span, policies, policy, keep = {} }: SpanFormProps): VNode {
  const isOther = !SPANS.some(({ name }) => name === span);
  return (
    <form class="view" method="get" action={path}>
      {Object.entries(keep).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <label>
        Time
        <select name="span">
          {isOther && (
            <option value={span} selected>
              {span}
            </option>
          )}
          {SPANS.map(({ name, title }) => (
            <option value={name} selected={name === span}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {policies.length > 1 && (
        <label>
          Policy
          <select name="policy">
            {policies.map((name) => (
              <option value={name} selected={name === policy}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="submit">Show</button>
    </form>
  );
}

interface SpanFormProps {
  readonly path: string;
  readonly span: string;
  readonly policies: readonly string[];
  readonly policy: string;
  /** The other parameters of the view. */
  readonly keep?: Readonly<Record<string, string>>;
}
