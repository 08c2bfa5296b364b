import type { FocusVersion } from "../../domain/focus-version.ts";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { ConfiguredDelivery, DeliveredFormat } from "../../runtime/config/deliveries.ts";
import type { FocusConfig } from "../../runtime/config/focus.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { exportFocus } from "../focus/export.ts";
import type { FocusWay } from "../focus/file.ts";
import { focusSetting } from "../focus/setting.ts";
import type { FocusManifest } from "../focus/manifest.ts";
import type { UnpricedTeam } from "../focus/plan.ts";
import { OF_RUNS, type FixedLines } from "../lines/fixed.ts";
import { planLines } from "../lines/portions.ts";
import { lineBytes } from "../lines/line-bytes.ts";
import { sqlOf, type ReportQuestion } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import type { LineFormat, SumFormat } from "../format/names.ts";
import { SUM_WRITERS, type Making, type Parts } from "../render/formats.ts";
import { refuseListPrices } from "../read/list-priced.ts";
import { readReport } from "../report/read-report.ts";
import { questionOf } from "./delivery.ts";
import { readUnpriced } from "./ready.ts";

/** The dependencies for making files. */
export interface MakingContext {
  readonly store: StoreClient;
  readonly ledger: Ledger;
  /** The names for the rows of FOCUS. */
  readonly focus: FocusConfig;
  readonly version: string;
  /** The environment in which a browser that prints PDFs is searched. */
  readonly env: NodeJS.ProcessEnv;
}

/** The content of a file. Amounts are exact decimal texts. */
export interface Figures {
  readonly cost: string;
  readonly gpuHours: string;
  /** The parts of the question without a price. They have no row in FOCUS, and no cost in other files. */
  readonly unpriced: readonly UnpricedTeam[];
  /** SHA-256 of the ids of the lines' runs; null for sums, which are read at once. */
  readonly runsHash: string | null;
  readonly focus: FocusManifest | null;
}

/** A complete file on this machine. */
export interface MadeFile {
  readonly path: string;
  /** `costs-2026-03.csv`: the same for each attempt. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Hexadecimal digits. */
  readonly sha256: string;
  readonly question: ReportQuestion;
  readonly format: DeliveredFormat;
  readonly currency: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  readonly figures: Figures;
}

/** A file while it is written, and its figures, which are correct when all parts have been read. */
interface Export {
  readonly parts: Parts;
  figures(): Figures | Promise<Figures>;
}

/** The question of a file, the time of its creation, and the teams whose advice a document has. */
interface Asked extends Pick<Making, "madeAt" | "adviceFor"> {
  readonly question: ReportQuestion;
  readonly focusVersion: FocusVersion | undefined;
}

/** The circumstances in which a file is made. */
interface Circumstances {
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  readonly signal: AbortSignal;
  /** The version of FOCUS in which the period was delivered before. */
  readonly keptVersion?: FocusVersion | undefined;
}

type Exporter = (context: MakingContext, asked: Asked) => Promise<Export>;

/** The file ending of each format, which decides the media type, and its exporter. */
const FORMATS: Readonly<Record<DeliveredFormat, { ending: keyof typeof MEDIA_TYPES; exporter: Exporter }>> = {
  csv: { ending: "csv", exporter: sums("csv") },
  json: { ending: "json", exporter: sums("json") },
  ndjson: { ending: "ndjson", exporter: sums("ndjson") },
  parquet: { ending: "parquet", exporter: sums("parquet") },
  html: { ending: "html", exporter: sums("html") },
  pdf: { ending: "pdf", exporter: sums("pdf") },
  focus: { ending: "csv", exporter: focusOf("csv") },
  "focus-parquet": { ending: "parquet", exporter: focusOf("parquet") },
  "lines-csv": { ending: "csv", exporter: lines("csv") },
  "lines-ndjson": { ending: "ndjson", exporter: lines("ndjson") },
  "lines-parquet": { ending: "parquet", exporter: lines("parquet") },
};

/**
 * Makes the complete file of a delivery's period in a folder. Only a part of the file is in memory at a time. FOCUS is checked against its
 * rules. Fails with a `StoreError`, a `ListPricedError`, a `FocusCheckError`, a `LinesReplacedError`, a `TooManyGroupsError` or a `PdfError`, with an error of
 * the file system, and if the signal is aborted.
 */
export async function makeFile(
  context: MakingContext,
  delivery: ConfiguredDelivery,
  span: Span,
  { folder, madeAt, signal, keptVersion }: Circumstances,
): Promise<MadeFile> {
  const { format } = delivery.report;
  const { ending, exporter } = FORMATS[format];
  const question = questionOf(delivery, span, context.ledger);
  const { advice, where, listPrices, focusVersion } = delivery.report;
  if (!listPrices) await refuseListPrices(context.store, question);
  const adviceFor = advice ? { adviceFor: where["team"] ?? ("all" as const) } : {};
  const { parts, figures } = await exporter(context, {
    question,
    madeAt,
    focusVersion: keptVersion ?? focusVersion,
    ...adviceFor,
  });
  const path = join(folder, "report");
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const part of parts) {
      const some = typeof part === "string" ? Buffer.from(part) : part;
      hash.update(some);
      bytes += some.length;
      yield some;
    }
  }
  await pipeline(Readable.from(counted()), createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal });
  return {
    path,
    name: `${delivery.name}-${span.name.replaceAll("/", "_")}.${ending}`,
    mediaType: MEDIA_TYPES[ending],
    bytes,
    sha256: hash.digest("hex"),
    question,
    format,
    currency: context.ledger.book.currency,
    madeAt,
    figures: await figures(),
  };
}

function sums(format: SumFormat): Exporter {
  return async ({ store, ledger, version, env }, { question, ...of }) => {
    const report = await readReport(store, question, ledger.book);
    const parts = await SUM_WRITERS[format]([report], { store, version, server: undefined, env, ...of });
    const { cost, gpuHours, unpricedGpuHours } = report.total;
    const unpriced = unpricedGpuHours === "0" ? [] : await readUnpriced(store, question);
    return { parts, figures: () => ({ cost, gpuHours, unpriced, runsHash: null, focus: null }) };
  };
}

function focusOf(format: FocusWay["format"]): Exporter {
  return async ({ store, ledger, focus }, { question, focusVersion }) => {
    const setting = focusSetting(focus, ledger, { policy: question.policy, version: focusVersion });
    const { bytes, manifest } = await exportFocus(store, question, setting, {
      format,
      isChecked: true,
      listPrices: true,
    });
    return {
      parts: bytes,
      figures() {
        const written = manifest();
        const { sums: all, unpriced, runsHash } = written;
        const { EffectiveCost: cost, x_GpuHours: gpuHours } = all;
        return { cost, gpuHours, unpriced: unpriced.teams, runsHash, focus: written };
      },
    };
  };
}

function lines(format: LineFormat): Exporter {
  return async ({ store }, { question }) => {
    const plan = await planLines(store, question);
    return { parts: lineBytes(store, plan, format), figures: () => figuresOf(store, plan) };
  };
}

async function figuresOf(store: StoreClient, { question, runs }: FixedLines): Promise<Figures> {
  const { where, parameters } = sqlOf(question);
  const teams = await store.query<{ team: string; lines: number; cost: string; hours: string; unpriced: string }>(
    `SELECT team, toFloat64(countIf(effective_cost IS NULL)) AS lines, toString(ifNull(sum(effective_cost), 0)) AS cost,
       toString(sum(gpu_hours)) AS hours, toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpriced
     FROM charges WHERE ${OF_RUNS} AND ${where} GROUP BY team ORDER BY team`,
    { ...parameters, runs },
  );
  const total = (amounts: readonly string[]): string => formatAmount(sum(amounts.map((amount) => amountOf(amount))));
  return {
    cost: total(teams.map(({ cost }) => cost)),
    gpuHours: total(teams.map(({ hours }) => hours)),
    unpriced: teams.flatMap(({ team, lines: count, unpriced }) =>
      count === 0 ? [] : { team, lines: count, gpuHours: total([unpriced]) },
    ),
    runsHash: createHash("sha256").update(runs.join("\n")).digest("hex"),
    focus: null,
  };
}
