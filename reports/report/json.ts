import { spanText, type Span } from "../question/span.ts";
import type { Report } from "./report.ts";

/** A span as programs read it: times in ISO 8601. */
export interface SpanJson {
  readonly name: string;
  readonly from: string;
  readonly until: string;
}

/** A report as programs read it. */
export interface ReportJson extends Omit<Report, "span" | "chargedUntil" | "comparedWith"> {
  readonly span: SpanJson;
  readonly chargedUntil: string | null;
  readonly comparedWith: SpanJson | null;
}

/** A report with its times in ISO 8601. */
export function reportJson({ span, chargedUntil, comparedWith, ...report }: Report): ReportJson {
  const { policy, kind, ...rest } = report;
  return {
    policy,
    kind,
    span: spanJson(span),
    chargedUntil: chargedUntil === null ? null : new Date(chargedUntil).toISOString(),
    comparedWith: comparedWith === null ? null : spanJson(comparedWith),
    ...rest,
  };
}

/** A span with its times in ISO 8601. */
export function spanJson({ name, from, until }: Span): SpanJson {
  return { name, from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

/** A span that says the same whenever it is read. */
export function fixedSpan(span: Span): Span {
  return { ...span, name: spanText(span) };
}
