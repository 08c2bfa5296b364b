import { z } from "zod";
import { PERIOD_FORM, readPeriod } from "../domain/period.ts";
import { energy } from "../runtime/config/energy.ts";
import { invoiceLine } from "../runtime/config/invoice.ts";
import { currency, register } from "../runtime/config/ledger.ts";
import { resourceKeys } from "../runtime/config/kubernetes.ts";
import { ownerLists, ownerRule } from "../runtime/config/owners.ts";
import { policy } from "../runtime/config/policies.ts";
import { bookKeys } from "../runtime/config/price-book.ts";
import { serving } from "../runtime/config/serving.ts";
import { SPLIT_RULES } from "../domain/serving/split-rule.ts";
import { SERVED_AMOUNTS } from "./served.ts";
import { list } from "../runtime/config/words.ts";
import { engine } from "./engines.ts";
import { exportLines, invoices } from "./invoices.ts";
import { count, duration, gpuIndexes, name, percent, ratio, span, texts, time, word } from "./words.ts";

const layout = z.record(z.string().regex(/^\d+$/), z.array(name, { error: "a list of MIG profiles" }), {
  error: "MIG profiles for each GPU index",
});

const node = z.strictObject({
  name,
  cluster: name.default("default"),
  ...span,
  providerId: name.optional(),
  instanceType: name.optional(),
  region: name.optional(),
  zone: name.optional(),
  pool: name.optional(),
  labels: texts.default({}),
  capacityType: word("on-demand", "spot", "reserved", "owned").default("on-demand"),
  model: name,
  gpus: count(0),
  idleWatts: count(0).optional(),
  energyCounter: z.boolean({ error: "true or false" }).default(true),
  delivered: count(0).optional(),
  partitions: z.record(z.string().regex(/^\d+$/), count(1)).default({}),
  sharing: z
    .strictObject({ strategy: word("none", "time-slicing", "mps"), replicas: count(1).default(1) })
    .default({ strategy: "none", replicas: 1 }),
  mig: z
    .union([layout, z.array(z.strictObject({ from: time, layout }))], {
      error: "MIG profiles for each GPU index, or a list of { from, layout }",
    })
    .optional(),
  unavailable: z
    .array(
      z.strictObject({
        gpus: gpuIndexes.optional(),
        ...span,
        because: z.string().regex(/^(xid-\d+|cordoned|not-ready|withdrawn)$/, {
          error: "one of: xid-N, cordoned, not-ready, withdrawn",
        }),
      }),
    )
    .default([]),
  telemetryGaps: z.array(z.strictObject({ gpus: gpuIndexes.optional(), ...span })).default([]),
});

const holds = z.union(
  [
    z.strictObject({ gpus: count(1) }),
    z.strictObject({ mig: name, count: count(1).default(1) }),
    z.strictObject({ replicas: count(1) }),
    z.strictObject({ fraction: z.number().gt(0).max(1) }),
    z.strictObject({
      hami: z.strictObject({
        gpus: count(1).default(1),
        memoryMiB: count(1).optional(),
        cores: percent.optional(),
      }),
    }),
    z.strictObject({ dra: z.strictObject({ claim: name }) }),
  ],
  { error: "one of { gpus }, { mig, count }, { replicas }, { fraction }, { hami }, { dra }" },
);

const device = z.union([count(0), z.strictObject({ gpu: count(0), instance: count(0) })], {
  error: "a GPU index, or { gpu, instance }",
});

const pod = z.strictObject({
  name,
  namespace: name,
  node: name.optional(),
  holds,
  devices: z.array(device).optional(),
  evidence: word("dra", "annotation", "label").default("label"),
  labels: texts.default({}),
  annotations: texts.default({}),
  workload: z.strictObject({ kind: name, name, labels: texts.default({}) }).optional(),
  type: word("training", "inference", "notebook", "other").optional(),
  queue: name.optional(),
  priorityClass: name.optional(),
  gang: z.strictObject({ group: name, size: count(1) }).optional(),
  group: name.optional(),
  hpcJob: name.optional(),
  created: time.optional(),
  scheduled: time.nullable().optional(),
  started: time.nullable().optional(),
  finished: time.nullable().optional(),
  phase: word("Succeeded", "Failed", "Evicted", "Deleted").default("Succeeded"),
  activity: z
    .union([ratio, z.array(z.strictObject({ ...span, ratio }))], {
      error: "a ratio, or a list of { from, until, ratio }",
    })
    .optional(),
  processActivity: z.boolean({ error: "true or false" }).default(false),
  memoryUsedMiB: count(0).optional(),
  powerWatts: count(0).optional(),
});

const namespaceState = z.strictObject({
  from: time.optional(),
  labels: texts.default({}),
  /** The GPUs that a ResourceQuota of the namespace grants. */
  quota: count(0).optional(),
});

const namespaces = z.record(z.string(), z.union([namespaceState, z.array(namespaceState)]));

const arrival = z.strictObject({
  pods: z.array(pod, { error: "a list of pods" }).optional(),
  nodes: z.array(node, { error: "a list of nodes" }).optional(),
  prices: list(z.unknown()).optional(),
  namespaces: namespaces.optional(),
});

/** Data that arrives late. */
export type Arrival = z.output<typeof arrival>;

const AMOUNT = 'an amount as text, such as "5.40"';
const amount = z.string({ error: AMOUNT }).regex(/^-?\d+(\.\d+)?$/, { error: AMOUNT });

const expectedLine = z
  .object(
    { gpuHours: amount.optional(), cost: amount.optional() },
    { error: "a line of dimensions, gpuHours and cost" },
  )
  .catchall(z.coerce.string());

const expectedEnergy = z
  .object({ kWh: amount.optional(), grams: amount.optional() }, { error: "a line of dimensions, kWh and grams" })
  .catchall(z.coerce.string());

const expectedServing = z
  .object(Object.fromEntries(SERVED_AMOUNTS.map((each) => [each, amount.optional()])), {
    error: "a line of dimensions, costs and counts",
  })
  .catchall(z.coerce.string());

const expectation = z.strictObject({
  total: amount.optional(),
  lines: z.array(expectedLine).optional(),
  corrections: z.array(expectedLine).optional(),
  energy: z.array(expectedEnergy).optional(),
  serving: z.partialRecord(z.enum(SPLIT_RULES), z.array(expectedServing)).optional(),
});

const FILE = "the name of a file";
const file = z.string({ error: FILE }).min(1, { error: FILE });

const objectFile = z.union(
  [
    file.transform((name) => ({ file: name, from: undefined })),
    z.strictObject({ from: time.optional(), file }),
    z.strictObject({ from: time, gone: z.array(name) }),
  ],
  { error: "a file, { from, file } or { from, gone }" },
);

const pageStates = z.union(
  [
    file.transform((name) => [{ file: name, from: undefined }]),
    z.array(z.strictObject({ from: time.optional(), file: file.nullable() })),
  ],
  { error: "a file, or a list of { from, file }" },
);

/** The keys of a scenario, each valid by itself. */
export const scenarioShape = z.strictObject({
  title: name,
  period: z.strictObject({ start: time, end: time }),
  currency: currency.default("USD"),
  scrapeInterval: duration.prefault("30s"),
  nodes: z.array(node, { error: "a list of nodes" }).default([]),
  namespaces: namespaces.default({}),
  pods: z.array(pod, { error: "a list of pods" }).default([]),
  claims: z
    .record(z.string(), z.strictObject({ node: name, devices: z.array(device), reservedFor: z.array(name) }))
    .default({}),
  kubernetes: z.strictObject(resourceKeys).prefault({}),
  objects: z.union([file.transform((name) => [{ file: name, from: undefined }]), z.array(objectFile)]).default([]),
  pages: z
    .union(
      [
        z
          .record(z.string(), pageStates)
          .transform((byNode) => Object.entries(byNode).map(([node, states]) => ({ node, states }))),
        z.array(pageStates.transform((states) => ({ node: undefined, states }))),
      ],
      { error: "an exporter's pages for each node, or a list of pages with their nodes" },
    )
    .default([]),
  ...bookKeys,
  owners: ownerLists(ownerRule),
  register: register.optional(),
  policies: list(policy).default([]),
  energy: energy.optional(),
  serving,
  invoices: invoices.optional(),
  engines: z.array(engine, { error: "a list of pages" }).default([]),
  events: z
    .array(
      z.union(
        [
          z.strictObject({
            at: time,
            close: z.string().refine((text) => readPeriod(text) !== undefined, { error: PERIOD_FORM }),
          }),
          z.strictObject({ at: time, invoice: invoiceLine }),
          z.strictObject({ at: time, arrives: arrival }),
          z.strictObject({ at: time, export: exportLines }),
        ],
        { error: "one of { at, close }, { at, invoice }, { at, arrives }, { at, export }" },
      ),
    )
    .default([]),
  expect: z.record(z.string(), expectation).default({}),
});

/** A scenario as it was written: times in milliseconds since the epoch, what was left out filled in. */
export type WrittenScenario = z.output<typeof scenarioShape>;
