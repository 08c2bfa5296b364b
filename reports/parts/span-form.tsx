import type { VNode } from "preact";
import { DAY_MILLIS } from "../../domain/time.ts";
import { dateText } from "../../domain/period.ts";
import { readSpan, spanText } from "../question/span.ts";

const SPANS: readonly { readonly name: string; readonly title: string }[] = [
  { name: "month", title: "this month" },
  { name: "lastmonth", title: "last month" },
  { name: "today", title: "today" },
  { name: "yesterday", title: "yesterday" },
  { name: "24h", title: "24 hours" },
  { name: "7d", title: "7 days" },
  { name: "30d", title: "30 days" },
  { name: "week", title: "this week" },
  { name: "lastweek", title: "last week" },
];

/** A form for the time of a view (one of the usual ones, or two days), and for the policy if several are kept. It works without a script. */
export function SpanForm({ path, span, policies, policy, compared, keep = {} }: SpanFormProps): VNode {
  const { first, last } = daysOf(span);
  const isOther = !SPANS.some(({ name }) => name === span);
  return (
    <form class="view" method="get" action={path}>
      {Object.entries(keep).map(([name, values]) =>
        [values].flat().map((value) => <input type="hidden" name={name} value={value} />),
      )}
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
      <label>
        or from
        <input type="date" name={FIRST_DAY} value={first} />
      </label>
      <label>
        to
        <input type="date" name={LAST_DAY} value={last} />
      </label>
      {compared !== undefined && (
        <label>
          compared with
          <input name="compare" value={compared} placeholder="the time before" size={16} />
        </label>
      )}
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

/** The parameters of two days that a form sends. */
const [FIRST_DAY, LAST_DAY] = ["firstDay", "lastDay"];

/** Returns the address of a page with the span of the two days that a form has sent, both inclusive; undefined if it has sent no day. */
export function withSentDays(path: string, query: string): string | undefined {
  const parameters = new URLSearchParams(query);
  if (!parameters.has(FIRST_DAY) && !parameters.has(LAST_DAY)) return undefined;
  const days = [FIRST_DAY, LAST_DAY].flatMap((name) => dayIn(parameters.get(name) ?? "") ?? []);
  parameters.delete(FIRST_DAY);
  parameters.delete(LAST_DAY);
  if (days.length > 0)
    parameters.set("span", spanText({ from: Math.min(...days), until: Math.max(...days) + DAY_MILLIS }));
  return `${path}?${parameters.toString()}`;
}

/** Returns the beginning of a day such as `2026-03-14`; undefined for another text. */
function dayIn(text: string): number | undefined {
  const read = /^\d{4}-\d{2}-\d{2}$/.test(text) ? readSpan(text, 0) : { error: "" };
  return "span" in read ? read.span.from : undefined;
}

/** Returns the first and the last day of a span of two days; empty for other spans. */
function daysOf(span: string): { readonly first: string; readonly last: string } {
  const [first = "", until = ""] = span.split("/");
  const end = dayIn(until);
  return dayIn(first) === undefined || end === undefined
    ? { first: "", last: "" }
    : { first, last: dateText(end - DAY_MILLIS) };
}

interface SpanFormProps {
  readonly path: string;
  readonly span: string;
  readonly policies: readonly string[];
  readonly policy: string;
  /** The time that the view is compared with, empty for the time before; absent for a view without a comparison. */
  readonly compared?: string;
  /** The other parameters of the view. */
  readonly keep?: Readonly<Record<string, string | readonly string[]>>;
}
