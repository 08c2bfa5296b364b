import { expect, it } from "vitest";
import { add, exactDecimal, ZERO, type Rational } from "../../../domain/exact/rational.ts";
import { readExportFile } from "../../../invoices/read-export.ts";

const SCALE_SET =
  "/subscriptions/ab12/resourcegroups/mc_x/providers/microsoft.compute/virtualmachinescalesets/aks-gpu-1-vmss";

it.each([
  // Two hours on demand, two hours with a savings plan, two negations, and two hours of the plan's fee.
  {
    name: "aws",
    effective: { "machine i-0aaa111": "196.64", "machine i-0bbb222": "108.2", "machine ": "0", "purchase ": "0" },
    billed: { "machine i-0aaa111": "196.64", "machine i-0bbb222": "196.64", "machine ": "-196.64", "purchase ": "120" },
    dropped: { "another machine": 2, "of no GPU machine": 2 },
  },
  // Two days.
  {
    name: "azure",
    effective: { [`machine ${SCALE_SET}/virtualmachines/7`]: "4200" },
    billed: { [`machine ${SCALE_SET}/virtualmachines/7`]: "4200" },
    dropped: { "another machine": 2, "of no GPU machine": 4 },
  },
  // Two hours of cores, and their promotions.
  {
    name: "gcp",
    effective: { "machine shop-prod/us-central1-a/gpu-1": "5", "credit shop-prod/us-central1-a/gpu-1": "-0.5" },
    billed: { "machine shop-prod/us-central1-a/gpu-1": "5", "credit shop-prod/us-central1-a/gpu-1": "-0.5" },
    dropped: { "another machine": 2, "of no GPU machine": 2, "another service": 2 },
  },
])("an export of $name, which koku-nise has written, has these sums", async ({ name, effective, billed, dropped }) => {
  const reading = readExportFile(`test/fixtures/invoices/nise/${name}.csv`);
  const totals = { effective: new Map<string, Rational>(), billed: new Map<string, Rational>() };
  for await (const lines of reading.batches)
    for (const { kind, machine, costs } of lines)
      for (const of of ["effective", "billed"] as const) {
        const key = `${kind} ${machine}`;
        totals[of].set(key, add(totals[of].get(key) ?? ZERO, costs[of]));
      }
  const texts = (sums: ReadonlyMap<string, Rational>): unknown =>
    Object.fromEntries([...sums].map(([key, sum]) => [key, exactDecimal(sum, 12)]));
  expect(texts(totals.effective)).toEqual(effective);
  expect(texts(totals.billed)).toEqual(billed);
  expect(reading.summary().dropped).toEqual(dropped);
});
