import { expect, it } from "vitest";
import { createPageReader, type PageLimits } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { hostilePages, type HostilePage } from "../support/hostile-pages.ts";

const origin = { cluster: "c", node: "n", target: "t", collector: "k" };
const source = { key: "t", origin: () => origin };
/** What a target may hold up others: as long as one step of its page takes. */
const LONGEST_STEP_MILLIS = 50;
const TRIES = 3;

/** Processor time of the longest step, and of all, of reading a page and the one behind it. A busy machine does not count. */
function read(
  { first, next = first }: HostilePage,
  limits: Partial<PageLimits> = {},
): { readonly longest: number; readonly all: number } {
  const reader = createPageReader(createTemplates(256e6), limits);
  let longest = 0;
  let all = 0;
  for (const page of [first, next]) {
    const steps = reader.steps(source, page, true);
    for (let done: boolean | undefined = false; done !== true;) {
      const before = process.cpuUsage();
      ({ done } = steps.next());
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
      all += (user + system) / 1000;
    }
  }
  return { longest, all };
}

it.each(hostilePages(4_000_000))("has turns of less than 50 ms: $name", (page) => {
  let { longest } = read(page);
  // A collection of garbage can fall into any step.
  for (let tries = 1; tries < TRIES && longest >= LONGEST_STEP_MILLIS; tries++) ({ longest } = read(page));
  expect(longest).toBeLessThan(LONGEST_STEP_MILLIS);
});

it.each(hostilePages(32_000_000))("is read, or refused, in seconds at the largest size: $name", (page) => {
  expect(read(page).all).toBeLessThan(20_000);
});

it.each(["devices without end", "a pod on each of them", "a host for each device", "partitions without end"])(
  "takes four times the time for four times as many, where as many are allowed: %s",
  (name) => {
    const limits = { devices: 50_000, messageBytes: 1e9 };
    const timeOf = (bytes: number): number =>
      read(
        hostilePages(bytes).find((page) => page.name === name)!,
        limits,
      ).all;
    const small = Math.min(timeOf(1_100_000), timeOf(1_100_000));
    expect(timeOf(4_400_000)).toBeLessThan(8 * small);
  },
);
