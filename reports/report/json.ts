import { spanText, type Span } from "../question/span.ts";
import type { Report } from "./report.ts";

/** A span for programs: times in ISO 8601. */
export interface SpanJson {
  readonly name: string;
  readonly from: string;
  readonly until: string;
}

/** A report for programs. */
export interface ReportJson extends Omit<Report, "span" | "chargedUntil" | "comparedWith"> {
  readonly span: SpanJson;
  readonly chargedUntil: string | null;
  readonly comparedWith: SpanJson | null;
}

/** Returns a report with its times in ISO 8601. */
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

/** Returns a span with its times in ISO 8601. */
export function spanJson({ name, from, until }: Span): SpanJson {
  return { name, from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

/** Returns a span whose name means the same at any time. */
export function fixedSpan(span: Span): Span {
  return { ...span, name: spanText(span) };
}
