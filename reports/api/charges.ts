import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";
import { planLines } from "../lines/portions.ts";
import { totalOf } from "../lines/fixed.ts";
import { lineBytes } from "../lines/line-bytes.ts";
import { documentHtml } from "../render/document.tsx";
import { LINE_FORMATS, type LineFormat } from "../format/names.ts";
import { pdfOf } from "../format/pdf.ts";
import {
  hasTrend,
  objectionTo,
  questionText,
  type ChargesQuestion,
  type ReportQuestion,
} from "../question/question.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { SUM_WRITERS } from "../render/formats.ts";
import { fixedSpan, reportJson } from "../report/json.ts";
import type { Report, ReportRow } from "../report/report.ts";
import { jsonBody, type Body } from "../server/answers.ts";
import { Problem } from "../question/problem.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { cursorText, pageGone, readCursor } from "./page.ts";
import { readPart, readPastPart } from "./read-part.ts";
import { fileName } from "../format/file-name.ts";
import { sendFile } from "./file.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { chargesSchema } from "./schemas.ts";
import type { Words } from "./words.ts";

const FORMATS = ["json", "ndjson", "csv", "parquet", "html", "pdf"] as const;

/** A document contains its style and loads nothing. */
const DOCUMENT_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
};
/** Adds `/charges`, the sums of a time by any dimensions, and `/charges/lines`, every line of the time as a file. */
export function addCharges(server: ApiServer, context: ApiContext, words: Words): void {
  const { answers, now, version } = context;
  const { span, kind, where, policy } = words;
  const asked = { span, kind, where, policy };

  addRoute(server, {
    path: "/charges",
    summary:
      "The cost of a time by any dimensions (highest cost first). Figures are exact, and the total has all rows.",
    query: z.strictObject({
      ...asked,
      compare: words.compare,
      by: words.by,
      format: z
        .enum(FORMATS)
        .default("json")
        .describe(
          "json has pages. The other formats have all rows. html and pdf are documents. A server without Chromium cannot print pdf.",
        ),
      limit: words.limit,
      cursor: words.cursor,
    }),
    answer: chargesSchema,
    async handle({ query, request, reply }) {
      const { viewer } = request;
      const compared = query.compare && fixedSpan(query.compare.span);
      const question = { ...questionOf(query, viewer, context), by: query.by.by, compared };
      return answers.send(request, reply, async (asking) => {
        const { ledgerVersion } = asking;
        const read = (): Promise<Report> => readPart(context, asking, question);
        const { format } = query;
        if (format === "html" || format === "pdf") {
          const byDay = hasTrend(question)
            ? await readPart(context, asking, { ...question, by: ["chargeDay"] })
            : undefined;
          const report = await read();
          const html = await documentHtml([{ report, byDay }], { version, madeAt: now(), server: "" });
          const exported = exportOf(question, report);
          if (format === "pdf") return { bytes: await pdfOf(html, context.env), type: MEDIA_TYPES.pdf, exported };
          return { bytes: Buffer.from(html), type: MEDIA_TYPES.html, headers: DOCUMENT_HEADERS, exported };
        }
        if (format !== "json") {
          const report = await read();
          const name = fileName(`charges-by-${question.by.join("-")}`, question.span, format);
          const body = await writtenAs(format, report, asking.store, context);
          return { ...body, name, exported: exportOf(question, report) };
        }
        const position = query.cursor === undefined ? { ledgerVersion, at: 0 } : readCursor(query.cursor);
        const report =
          position.ledgerVersion === ledgerVersion
            ? await read()
            : await readPastPart(context, viewer, position.ledgerVersion, question);
        if (report === undefined) throw pageGone();
        return jsonBody(page(report, question, position, query.limit));
      });
    },
  });

  addRoute(server, {
    path: "/charges/lines",
    summary: "All lines of a time, as a streamed file.",
    query: z.strictObject({ ...asked, format: z.enum(LINE_FORMATS).default("csv") }),
    type: LINE_FORMATS.map((format) => MEDIA_TYPES[format]),
    async handle({ query, request, reply }) {
      const { format } = query;
      const question = questionOf(query, request.viewer, context);
      const store = answers.storeForFile(request, reply);
      const plan = await planLines(store, question);
      const file = {
        name: fileName("charge-lines", question.span, format),
        type: MEDIA_TYPES[format as LineFormat],
        subject: `lines of ${questionText(question)}`,
        bytes: lineBytes(store, plan, format),
        rows: () => totalOf(plan.teams),
      };
      return sendFile(request, reply, file, context);
    },
  });
}

/** Returns the question of a query, limited to what the viewer may see. Fails with a {@link Problem}. */
export function questionOf(
  query: Pick<ChargesQuestion, "kind" | "where"> & {
    readonly span: Pick<ChargesQuestion, "span">;
    readonly policy?: string | undefined;
  },
  viewer: Viewer,
  { ledger }: ApiContext,
): ChargesQuestion {
  const { kind, where, policy } = query;
  const span = fixedSpan(query.span.span);
  const objection = objectionTo({ kind, span: query.span.span });
  if (objection !== undefined)
    throw new Problem("wrong-parameter", `kind: ${objection}`, [{ parameter: "kind", message: objection }]);
  return { policy: policyOf(ledger, policy), kind, span, where: allowed(where, viewer) };
}

function page(
  report: Report,
  question: ReportQuestion,
  { ledgerVersion, at }: { readonly ledgerVersion: string; readonly at: number },
  limit: number,
): object {
  const rows = report.rows.slice(at, at + limit);
  const isLast = at + limit >= report.rows.length;
  return {
    ...reportJson({ ...report, rows: [] }),
    rows: rows.map((row) => ({ ...row, explain: `explain?${questionText(questionOfRow(question, row))}` })),
    next: isLast ? null : cursorText({ ledgerVersion, at: at + limit }),
  };
}

function exportOf(question: ReportQuestion, { rows }: Report): NonNullable<Body["exported"]> {
  return { subject: `sums of ${questionText(question)} by ${question.by.join(",")}`, rows: rows.length };
}

/** Returns the question whose sum is a row of a report. */
function questionOfRow({ by, ...question }: ReportQuestion, { dimensions }: ReportRow): ChargesQuestion {
  const own = by.map((dimension) => ({ dimension, values: [dimensions[dimension]!] }));
  return { ...question, where: [...question.where, ...own] };
}

async function writtenAs(
  format: Exclude<(typeof FORMATS)[number], "json" | "html" | "pdf">,
  report: Report,
  store: StoreClient,
  { version, now, env }: Pick<ApiContext, "version" | "now" | "env">,
): Promise<Body> {
  const making = { store, version, madeAt: now(), server: "", env };
  const parts = SUM_WRITERS[format]([report], making);
  return { bytes: await buffer(Readable.from(parts)), type: MEDIA_TYPES[format] };
}
