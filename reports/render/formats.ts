import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";
import { documentHtml, type DocumentPart } from "./document.tsx";
import type { SumFormat } from "../format/names.ts";
import { pdfOf } from "../format/pdf.ts";
import { hasTrend } from "../question/question.ts";
import { readLargestCards } from "../advice/read-cards.ts";
import { reportsCsv, reportsNdjson } from "../report/flat.ts";
import { reportJson } from "../report/json.ts";
import { reportsParquet } from "../report/parquet.ts";
import { readReport, type PricedBy } from "../report/read-report.ts";
import type { Report } from "../report/report.ts";
import { reportsText } from "../report/table.ts";

/** Reports of one question, one for each policy. */
export type Reports = readonly [Report, ...Report[]];

/** A file while it is written. */
export type Parts = AsyncIterable<Uint8Array> | Iterable<string | Uint8Array>;

/** The dependencies of a format beside the reports. */
export interface Making {
  readonly store: StoreClient;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** The server that explains the figures. */
  readonly server: string | undefined;
  /** The environment in which a browser for printing is searched. */
  readonly env: NodeJS.ProcessEnv;
  /** The teams whose largest savings a document has; absent if it has none. */
  readonly adviceFor?: Viewer["teams"];
}

/** The writers of the formats of sums. Each fails with a `StoreError`, `pdf` also with a `PdfError`. */
export const SUM_WRITERS = {
  table: (reports) => [reportsText(reports)],
  json: (reports) => [`${JSON.stringify({ reports: reports.map(reportJson) }, null, 2)}\n`],
  ndjson: (reports) => [reportsNdjson(reports)],
  csv: (reports) => [Buffer.from(reportsCsv(reports))],
  parquet: (reports, { store }) => reportsParquet(store, reports),
  html: async (reports, making) => [Buffer.from(await htmlOf(reports, making))],
  pdf: async (reports, making) => [await pdfOf(await htmlOf(reports, making), making.env)],
} as const satisfies Readonly<Record<SumFormat, (reports: Reports, making: Making) => Parts | Promise<Parts>>>;

/** The most cards in a document. */
const CARDS_OF_DOCUMENT = 5;

/** Returns reports as a document, with the days of each report if its rows have no time. */
async function htmlOf(reports: Reports, { store, version, madeAt, server, adviceFor }: Making): Promise<string> {
  const part = async (report: Report): Promise<DocumentPart> => {
    const { currency, prices, policy, kind, span, where } = report;
    const book: PricedBy = { currency, ...(prices === "list" ? { isList: true } : {}) };
    const question = { policy, kind, span, where, by: ["chargeDay"] };
    return { report, byDay: hasTrend(report) ? await readReport(store, question, book) : undefined };
  };
  const [first, ...others] = reports;
  const parts: [DocumentPart, ...DocumentPart[]] = [await part(first)];
  for (const report of others) parts.push(await part(report));
  const advice =
    adviceFor && (await readLargestCards(store, { teams: adviceFor, now: madeAt }, { limit: CARDS_OF_DOCUMENT }));
  return await documentHtml(parts, { version, madeAt, server, advice });
}
