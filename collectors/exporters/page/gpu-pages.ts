import { encodeStable } from "../../../domain/messages/scrape-message.ts";
import type { ScrapeOrigin, ScrapeShape } from "../../../domain/scrape.ts";
import type { Steps } from "../../../runtime/steps.ts";
import { planSteps, type PagePlan } from "../fold/plan.ts";
import type { PageKind } from "./kind.ts";
import { createSizeCheck, rowTexts } from "./row-texts.ts";
import type { Template } from "./templates.ts";

/** The parts of a GPU exporter's target that the reader needs. */
export interface PageSource {
  /** A unique key for each target. */
  readonly key: string;
  /** Returns the origin of a host's rows. The host has a name only if the page has rows of several hosts. */
  readonly origin: (shape: ScrapeShape, host: string) => ScrapeOrigin;
}

/** The pages of GPU exporters: a row for each device, and a message for each host. */
export const GPU_PAGES: PageKind<PageSource> = {
  programs: "GPU exporter",
  *plan(samples, families, limits, source) {
    const plan = yield* planSteps(samples, families, limits);
    const { program, shape, drops, known } = plan;
    const hosts = yield* hostsOf(plan, source, limits.messageBytes);
    const gpus = shape.devices.filter((device) => device.repeatsGpu !== true).length;
    return { program, columns: shape.columns, gpus, hosts, drops, known };
  },
};

/**
 * Returns the hosts of a planned page, with the position of each host's values. Throws a `PageError` `too-large` if the rows of a host are too
 * large for a message.
 */
export function* hostsOf(
  { shape, hosts }: PagePlan,
  source: PageSource,
  messageBytes: number,
): Steps<Template["hosts"]> {
  const width = shape.columns.length;
  const made: Template["hosts"][number][] = [];
  let row = 0;
  for (const { name, rows } of hosts.length === 0 ? [{ name: "", rows: 0 }] : hosts) {
    const first = row;
    row += rows;
    const own = { ...shape, devices: shape.devices.slice(first, row) };
    const size = createSizeCheck(rows * width, messageBytes);
    const devices = yield* rowTexts(own.devices, size);
    const origin = source.origin(own, name);
    const stable = encodeStable(origin, own, devices);
    size.check(stable.length);
    made.push({ origin, stable, from: first * width, until: row * width });
  }
  return made;
}
