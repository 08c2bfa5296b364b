import type { DeliveryDetails, Occasion } from "./records.ts";
import type { MadeFile } from "./make.ts";
import type { Filter, ReportKind } from "../question/question.ts";
import type { FocusManifest } from "../focus/manifest.ts";
import type { UnpricedTeam } from "../focus/plan.ts";

/** A file with its recipient, for a folder or a webhook. */
export interface Parcel {
  readonly file: MadeFile;
  readonly occasion: Occasion;
  /** The number of attempts, with this one. */
  readonly attempt: number;
}

/** The manifest beside a delivered file. Times are ISO 8601, amounts exact decimal texts. */
export interface DeliveryManifest {
  readonly delivery: string;
  readonly recipient: string;
  readonly period: string;
  readonly from: string;
  readonly until: string;
  readonly file: string;
  readonly format: string;
  readonly policy: string;
  readonly kind: ReportKind;
  /** The dimensions of the sums; empty if the rows are lines or rows of FOCUS. */
  readonly by: readonly string[];
  readonly where: readonly Filter[];
  readonly bytes: number;
  readonly sha256: string;
  readonly currency: string;
  readonly cost: string;
  readonly gpuHours: string;
  readonly unpriced: readonly UnpricedTeam[];
  readonly runsHash: string | null;
  readonly focus: FocusManifest | null;
  readonly madeAt: string;
}

/** Returns the manifest of a file: its description and its content. */
export function manifestOf({ file, occasion }: Parcel): DeliveryManifest {
  const { question, figures, format } = file;
  const hasRowsOfItsOwn = format.startsWith("focus") || format.startsWith("lines");
  return {
    delivery: occasion.delivery,
    recipient: occasion.recipient,
    period: question.span.name,
    from: new Date(occasion.from).toISOString(),
    until: new Date(occasion.until).toISOString(),
    file: file.name,
    format,
    policy: question.policy,
    kind: question.kind,
    by: hasRowsOfItsOwn ? [] : question.by,
    where: question.where,
    bytes: file.bytes,
    sha256: file.sha256,
    currency: file.currency,
    ...figures,
    madeAt: new Date(file.madeAt).toISOString(),
  };
}

/** Returns the stored details of a delivery. */
export function detailsOf({ file }: Parcel): DeliveryDetails {
  const { name, bytes, sha256, currency, figures } = file;
  const { cost, gpuHours, runsHash, focus } = figures;
  const focusVersion = focus?.focusVersion ?? null;
  return { file: name, bytes, sha256, cost, currency, gpuHours, runsHash, focusVersion };
}
