import type { StoreClient } from "../../runtime/store/client.ts";
import { documentHtml, type DocumentPart } from "../format/document.tsx";
import { pdfOf } from "../format/pdf.ts";
import { hasTrend } from "../question/question.ts";
import { reportsCsv, reportsNdjson } from "./flat.ts";
import { reportJson } from "./json.ts";
import { reportsParquet } from "./parquet.ts";
import { readReport } from "./read-report.ts";
import type { Report } from "./report.ts";
import { reportsText } from "./table.ts";

/** Reports of one question, under a policy each. */
export type Reports = readonly [Report, ...Report[]];

/** A file on its way. */
export type Parts = AsyncIterable<Uint8Array> | Iterable<string | Uint8Array>;

/** What a format is made of beside the reports. */
export interface Making {
  readonly store: StoreClient;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** Where its figures are explained. */
  readonly server: string | undefined;
  /** Where a browser that prints is looked for. */
  readonly env: NodeJS.ProcessEnv;
}

/** The formats of sums, as `--format` names them. Each fails with a `StoreError`, `pdf` with a `PdfError` too. */
export const SUM_FORMATS = {
  table: (reports) => [reportsText(reports)],
  json: (reports) => [`${JSON.stringify({ reports: reports.map(reportJson) }, null, 2)}\n`],
  ndjson: (reports) => [reportsNdjson(reports)],
  csv: (reports) => [reportsCsv(reports)],
  parquet: (reports, { store }) => reportsParquet(store, reports),
  html: async (reports, making) => [await htmlOf(reports, making)],
  pdf: async (reports, making) => [await pdfOf(await htmlOf(reports, making), making.env)],
} as const satisfies Readonly<Record<string, (reports: Reports, making: Making) => Parts | Promise<Parts>>>;

/** See {@link SUM_FORMATS}. */
export type SumFormat = keyof typeof SUM_FORMATS;

/** Reports as a document, with the days of each where its rows do not say when. */
async function htmlOf(reports: Reports, { store, version, madeAt, server }: Making): Promise<string> {
  const part = async (report: Report): Promise<DocumentPart> => {
    const { currency, policy, kind, span, where } = report;
    const question = { policy, kind, span, where, by: ["chargeDay"] };
    return { report, byDay: hasTrend(report) ? await readReport(store, question, currency) : undefined };
  };
  const [first, ...others] = reports;
  const parts: [DocumentPart, ...DocumentPart[]] = [await part(first)];
  for (const report of others) parts.push(await part(report));
  return documentHtml(parts, { version, madeAt, server });
}
