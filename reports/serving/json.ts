import { spanJson, type SpanJson } from "../report/json.ts";
import type { ServingReport } from "./read-serving.ts";

/** A report about serving for programs, with its times in ISO 8601. */
export interface ServingReportJson extends Omit<ServingReport, "span"> {
  readonly span: SpanJson;
}

/** Returns a report about serving with its times in ISO 8601. */
export function servingJson({ span, ...report }: ServingReport): ServingReportJson {
  return { ...report, span: spanJson(span) };
}
