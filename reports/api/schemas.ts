import { z } from "zod";
import type { CountedBy } from "../../domain/inventory.ts";
import { COUNTED_BY } from "../../domain/share/node-gpus.ts";
import { CHARGE_STATES } from "../../domain/charge/charge.ts";
import { REPORT_KINDS } from "../question/question.ts";
import { decimal, time } from "./words.ts";

const countedBySchema = z.enum(Object.keys(COUNTED_BY) as CountedBy[]);

/** The error of a request: a problem+json document. */
export const problemSchema = z
  .object({
    type: z.string().describe("urn:gpu-ledger:problem:<code>; the codes stay as they are."),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string(),
    errors: z.array(z.object({ parameter: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "Problem" });

/** The conditions as the server read them. */
export const filterSchema = z.object({ dimension: z.string(), values: z.array(z.string()) });

/** A span with its times. */
export const spanSchema = z.object({ name: z.string(), from: time, until: time }).meta({ id: "Span" });

const byState = z.partialRecord(z.enum(CHARGE_STATES), decimal);

/** The sums of lines. */
const measures = {
  gpuHours: decimal,
  heldGpuHours: decimal.describe("GPU-hours that workloads held and could use."),
  activeGpuHours: decimal,
  list: decimal,
  contracted: decimal,
  cost: decimal.describe("The effective cost, which is charged."),
  power: decimal.describe("The part of the cost for power."),
  states: byState.describe("The cost by state, without states that have no cost."),
  stateGpuHours: byState.describe("GPU-hours by state, without states that have none."),
  corrections: decimal.describe("The part of the cost that corrects earlier charges."),
  unpricedGpuHours: decimal.describe("GPU-hours without a price. They have no cost."),
  coverage: decimal.nullable().describe("The part of the held time with telemetry."),
  costPerHeldGpuHour: decimal.nullable(),
  costPerActiveGpuHour: decimal.nullable(),
  kWh: decimal.nullable().describe("Energy at the GPU."),
  carbonGrams: decimal.nullable(),
  lines: z.number().int(),
};

const trend = {
  before: decimal.nullable().describe("The cost of the time of the same length before."),
  change: decimal.nullable(),
};

/** A page of the rows of a report. */
export const chargesSchema = z
  .object({
    policy: z.string(),
    kind: z.enum(REPORT_KINDS),
    span: spanSchema,
    chargedUntil: time.nullable(),
    comparedWith: spanSchema.nullable(),
    by: z.array(z.string()),
    where: z.array(filterSchema),
    currency: z.string(),
    prices: z
      .enum(["book", "list"])
      .describe(
        "The prices of open charges: those of the price book, or public list prices, which apply without a book.",
      ),
    total: z.object({ ...measures, ...trend }).describe("The sums of all rows of all pages."),
    rows: z.array(
      z.object({
        dimensions: z.record(z.string(), z.string()),
        ...measures,
        ...trend,
        explain: z.string().describe("The address of the row's explanation."),
      }),
    ),
    next: z.string().nullable().describe("The cursor of the next page."),
  })
  .meta({ id: "Charges" });

const payers = { team: z.string(), costCenter: z.string() };

/** The statements of a month. */
export const statementsSchema = z
  .object({
    billingPeriod: z.string(),
    policy: z.string(),
    currency: z.string(),
    closed: z.object({ by: z.string(), at: time }).nullable(),
    total: z.object({ ...measures, posted: decimal.nullable() }),
    statements: z.array(
      z.object({
        ...payers,
        ...measures,
        posted: decimal.nullable().describe("The posted amount in minor units. Null in an open month."),
        hash: z.string().nullable().describe("SHA-256 of the closed statement."),
        explain: z.string(),
      }),
    ),
  })
  .meta({ id: "Statements" });

const part = {
  gpuHours: decimal,
  cost: decimal,
  unpricedGpuHours: decimal,
  kWh: decimal.nullable(),
  carbonGrams: decimal.nullable(),
};

const exportLineSchema = z.object({
  source: z.string(),
  export: z.string(),
  file: z.string(),
  row: z.number(),
  machine: z.string(),
  kind: z.string(),
  from: time,
  until: time,
  commitment: z.string(),
  machineHours: z.string(),
  currency: z.string(),
  effective: z.string(),
  billed: z.string(),
  invoice: z.string().describe("Empty until the provider has made the invoice."),
});

/** Why charges are what they are. */
export const explanationSchema = z
  .object({
    policy: z.string(),
    currency: z.string(),
    span: spanSchema.nullable(),
    where: z.array(filterSchema),
    ...part,
    states: z.array(z.object({ ...part, state: z.string(), because: z.string(), payer: z.string() })),
    owners: z.array(z.object({ ...part, team: z.string(), rule: z.string() })),
    prices: z.array(z.object({ ...part, price: z.string(), since: z.string() })),
    workloads: z.array(
      z.object({
        ...part,
        namespace: z.string(),
        workloadKind: z.string(),
        workload: z.string(),
        pods: z.number().int(),
      }),
    ),
    evidence: z.array(z.object({ ...part, attribution: z.string() })),
    lineCount: z.number().int().describe("The number of all lines."),
    lines: z
      .array(
        z.object({
          ...part,
          cluster: z.string(),
          node: z.string(),
          gpu: z.number().int().nullable(),
          from: time,
          until: time,
          state: z.string(),
          team: z.string(),
          namespace: z.string(),
          pod: z.string(),
          attribution: z.string(),
          rawShare: z.string(),
          share: z.string(),
          price: z.string(),
          billingPeriod: z.string(),
          isCorrection: z.boolean(),
          imported: z
            .string()
            .nullable()
            .describe("The source of the pod's facts if an import made them, and the data that they lack."),
          segment: z
            .object({
              from: time,
              until: time,
              gpuKey: z.string(),
              gpuAt: z.unknown(),
              counted: z.array(
                z.object({
                  count: z.number().int(),
                  countedBy: countedBySchema.optional(),
                  otherCount: z.object({ by: countedBySchema, count: z.number().int() }).optional(),
                }),
              ),
              unavailableBecause: z.string(),
              samples: z.number().int(),
              firstSample: time.nullable(),
              lastSample: time.nullable(),
              coveredMillis: z.number(),
              activeMillis: z.number(),
              energyCoveredMillis: z.number(),
              activityPpm: z.number().nullable(),
            })
            .nullable(),
        }),
      )
      .describe("The lines with the highest cost, with their segments of the meter."),
    exportLines: z
      .array(exportLineSchema)
      .nullable()
      .describe(
        "For a GPU at a moment: the lines of the provider's export. Null for other questions and for viewers of some teams.",
      ),
  })
  .meta({ id: "Explanation" });

/** Who had which GPU. */
export const allocationsSchema = z
  .object({
    policy: z.string(),
    currency: z.string(),
    span: spanSchema,
    where: z.array(filterSchema),
    allocations: z.array(
      z.object({
        cluster: z.string(),
        node: z.string(),
        gpu: z.number().int(),
        gpuModel: z.string(),
        namespace: z.string(),
        pod: z.string(),
        workloadKind: z.string(),
        workload: z.string(),
        workloadType: z.string(),
        team: z.string(),
        share: z.string().describe("The share of the GPU, such as 1 or 1/4."),
        attribution: z.string().describe("The evidence of the holder."),
        from: time,
        until: time,
        gpuHours: decimal,
        activeGpuHours: decimal,
        unobservedGpuHours: decimal,
        unpricedGpuHours: decimal,
        cost: decimal,
      }),
    ),
    next: z.string().nullable(),
  })
  .meta({ id: "Allocations" });

/** Billing periods. */
export const periodsSchema = z
  .object({
    currency: z.string(),
    periods: z.array(
      z.object({
        period: z.string(),
        from: time,
        until: time,
        status: z.enum(["running", "open", "closed"]),
        closesFrom: time,
        chargedUntil: time.nullable(),
        closed: z
          .object({
            by: z.string(),
            at: time,
            why: z.string().optional(),
            hash: z.string().optional(),
            cost: decimal.optional(),
            posted: decimal.optional(),
          })
          .nullable(),
      }),
    ),
  })
  .meta({ id: "Periods" });

/** The price book. */
export const pricesSchema = z
  .object({
    currency: z.string(),
    entries: z.array(
      z.object({
        name: z.string().describe("The name of the entry in charges."),
        kind: z.enum(["price", "commitment", "fixed"]),
        per: z.enum(["gpu-hour", "node-hour", "owned", "month", "hour"]),
        from: time,
        until: time.nullable(),
        currency: z.string(),
        match: z.record(z.string(), z.string()),
        list: decimal.nullable(),
        contracted: decimal.nullable(),
        amount: decimal.describe("The effective unit price, the purchase price of an owned machine, or the amount."),
      }),
    ),
    markup: z.array(z.string()).describe("Teams that have a markup or a discount."),
  })
  .meta({ id: "Prices" });

/** The unowned cost. */
export const ownersSchema = z
  .object({
    currency: z.string(),
    span: spanSchema,
    register: z.array(z.string()).nullable().describe("The teams of the register. Null if there is no register."),
    unownedCost: decimal,
    heldCost: decimal,
    workloads: z.array(
      z.object({
        namespace: z.string(),
        workloadKind: z.string(),
        workload: z.string(),
        pods: z.number().int(),
        gpuHours: decimal,
        cost: decimal,
        refused: z.array(z.string()).describe("Names of teams that are refused: missing in the register, or reserved."),
      }),
    ),
  })
  .meta({ id: "Owners" });
