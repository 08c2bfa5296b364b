import { NO_MACHINE } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { readBook } from "../../domain/price/read.ts";
import type { Origin, Part } from "../../reports/focus/part.ts";
import { focusColumns } from "../../reports/focus/columns.ts";
import type { FocusSetting } from "../../reports/focus/setting.ts";
import type { WrittenRow } from "../../reports/focus/check/rule.ts";
import { rowsOf } from "../../reports/focus/rows.ts";

/** The parties in the rows of tests. */
export const SETTING: FocusSetting = {
  version: "1.3",
  paymentTerms: "Net 30",
  policy: "default",
  currency: "USD",
  billingAccountId: "gpu-ledger",
  serviceName: "GPU time",
  serviceProvider: "GPU platform",
};

/** The price book of a content, in USD if it names no currency. */
export function focusBook(content: object): PriceBook {
  const read = readBook({ currency: "USD", ...content });
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.book;
}

/** GPU 0 of a node on a day of March. */
export const GPU: Origin = {
  billingPeriod: Date.UTC(2026, 2, 1),
  isCorrection: false,
  from: Date.UTC(2026, 2, 2),
  until: Date.UTC(2026, 2, 3),
  cluster: "prod",
  service: undefined,
  node: "gpu-a",
  slot: 0,
  ...NO_MACHINE,
  gpuModel: "NVIDIA-L4",
  instanceType: "g6.xlarge",
  region: "eu-central-1",
  zone: "eu-central-1a",
  pool: "l4",
  layout: "whole",
  capacityType: "on-demand",
  price: "prices[0]",
  pricedSince: Date.UTC(2026, 0, 1),
};

/** Eighteen hours of it at 3, which vision's pod held; the given fields replace the defaults. */
export function partOf(given: Partial<Part> = {}): Part {
  const cost = lastUnits<"currency">(54_000_000_000n);
  return {
    origin: GPU,
    work: undefined,
    isAskedFor: true,
    state: "active",
    because: "",
    payer: "holder",
    team: "vision",
    costCenter: "4711",
    project: "",
    environment: "",
    holder: "uid-1",
    namespace: "vision",
    pod: "v-0",
    workloadKind: "Job",
    workload: "v",
    type: "training",
    queue: "",
    priorityClass: "",
    labels: {},
    attribution: "label",
    lines: 18,
    gpuHours: lastUnits(18_000_000_000n),
    millis: 18 * 3_600_000,
    list: cost,
    contracted: cost,
    effective: cost,
    power: undefined,
    millijoules: undefined,
    carbon: undefined,
    ...given,
  };
}

/** A part without a holder, which the platform pays. */
export function freePart(given: Partial<Part> = {}): Part {
  const nobody = { holder: "", namespace: "", pod: "", workloadKind: "", workload: "", type: "", attribution: "" };
  return partOf({ ...nobody, state: "unallocated", payer: "platform", team: "platform", costCenter: "", ...given });
}

/** The rows of an origin's parts, by column name. */
export function writtenRows(parts: readonly [Part, ...Part[]], setting: FocusSetting = SETTING): readonly WrittenRow[] {
  const columns = focusColumns("charges", setting);
  return rowsOf(parts, columns, setting).map((cells) =>
    Object.fromEntries(columns.map(({ name }, place) => [name, cells[place]!])),
  );
}
