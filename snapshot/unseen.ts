import type { UsageHour } from "../domain/allocation/usage-hour.ts";
import type { Charge } from "../domain/charge/charge.ts";
import { gpuKey } from "../domain/device.ts";
import { groupBy } from "../domain/grouped.ts";
import type { Sample, SeenSamples } from "./samples.ts";
import type { Unseen } from "./seen.ts";

/** The most names in a sentence. */
const MOST_NAMES = 5;

/** Returns all that a snapshot could not see: what it may not read, pages that failed, GPUs without counters, and GPUs without a price. */
export function unseenOf(
  unseen: readonly Unseen[],
  of: {
    readonly silent: SeenSamples["silent"];
    readonly samples: readonly Sample[];
    readonly usage: readonly UsageHour[];
    readonly charges: readonly Charge[];
  },
): readonly Unseen[] {
  const { silent: exporters, samples, usage, charges } = of;
  const gpusOf = (wanted: (sample: Sample) => boolean): ReadonlySet<string> =>
    new Set(samples.filter(wanted).map(({ node, device }) => JSON.stringify([node, gpuKey(device)])));
  const [all, active, profiled] = [
    gpusOf(() => true),
    gpusOf(({ activity }) => activity !== undefined),
    gpusOf(({ hasProfiling }) => hasProfiling),
  ].map(({ size }) => size) as [number, number, number];
  // The missing permission already has the pages in its sentence.
  const isRefused = unseen.some(({ what }) => what === "pods/proxy");
  const measured = new Set(samples.map(({ node }) => node));
  const silent = [...new Set(usage.map(({ node }) => node))].filter((node) => !measured.has(node));
  const unpriced = [...new Set(charges.filter(({ costs }) => costs === undefined).map(nameOfUnpriced))].toSorted();
  return [
    ...unseen,
    ...(isRefused ? [] : silentOf(exporters)),
    ...(silent.length === 0
      ? []
      : [
          {
            what: `the GPUs of ${silent.length} of ${new Set(usage.map(({ node }) => node)).size} nodes`,
            why: `no exporter's page has them: ${named(silent)}`,
            without: "their time is unobserved: it is unknown whether they work",
          },
        ]),
    ...(active < all
      ? [
          {
            what: `the activity of ${all - active} of ${all} GPUs`,
            why: "their page has no counter of utilization",
            without: "their time is unobserved",
          },
        ]
      : []),
    ...(profiled < all
      ? [
          {
            what: `the profiling counters of ${all - profiled} of ${all} GPUs`,
            why: "their exporter does not have them: enable DCGM's profiling metrics",
            without: "activity only shows that some kernel ran, not how well it used the GPU",
          },
        ]
      : []),
    ...(unpriced.length === 0
      ? []
      : [
          {
            what: `the price of ${unpriced.length === 1 ? "one kind" : `${unpriced.length} kinds`} of GPUs`,
            why: `the price book has no entry for ${named(unpriced)}`,
            without: "their cost is missing in every sum",
          },
        ]),
  ];
}

/** Returns the exporters without a sample, those with the same reason together. */
function silentOf(exporters: SeenSamples["silent"]): readonly Unseen[] {
  return groupBy(exporters, ({ why }) => [why]).map((group) => ({
    what: `the ${group.length === 1 ? "page" : "pages"} of ${named(group.map(({ target }) => target))}`,
    why: group[0].why,
    without: "the time of their GPUs is unobserved",
  }));
}

function nameOfUnpriced({ instanceType, region, capacityType, gpuModel: model }: Charge): string {
  const parts = [instanceType === "" ? model : instanceType, region, capacityType].filter((part) => part !== "");
  return parts.length === 0 ? "GPUs of an unknown kind" : parts.join(" ");
}

function named(names: readonly string[]): string {
  const further = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${further > 0 ? ` and ${further} more` : ""}`;
}
