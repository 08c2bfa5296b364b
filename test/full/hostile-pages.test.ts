import { expect, it } from "vitest";
import type { PageLimits } from "../../collectors/exporters/page/kind.ts";
import { createPageReader } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { hostilePages, type HostilePage } from "../support/hostile-pages.ts";

const origin = { cluster: "c", node: "n", target: "t", collector: "k" };
const source = { key: "t", origin: () => origin };
/** How long a target may block others: the duration of one step of its page. */
const LONGEST_STEP_MILLIS = 50;
const TRIES = 3;

/** The processor time of the longest step, and of all steps, of reading a page and its next page. A busy machine does not count. */
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

it.each(hostilePages(4_000_000))("a hostile page is read in steps of less than 50 ms: $name", (page) => {
  let { longest } = read(page);
  // The garbage collector can run in any step.
  for (let tries = 1; tries < TRIES && longest >= LONGEST_STEP_MILLIS; tries++) ({ longest } = read(page));
  expect(longest).toBeLessThan(LONGEST_STEP_MILLIS);
});

it.each(hostilePages(32_000_000))(
  "a hostile page of the largest size is read, or refused, in seconds: $name",
  (page) => {
    expect(read(page).all).toBeLessThan(20_000);
  },
);

it.each(["devices without end", "a pod on each of them", "a host for each device", "partitions without end"])(
  "the time to read a page grows in proportion to its size, if the limits allow it: %s",
  (name) => {
    const limits = { devices: 50_000, messageBytes: 1e9 };
    const pageOf = (bytes: number): HostilePage => hostilePages(bytes).find((page) => page.name === name)!;
    const [small, large] = [pageOf(1_100_000), pageOf(4_400_000)];
    // The shortest of several times: the garbage collector can run in any of them.
    const times = Array.from({ length: TRIES }, () => [read(small, limits).all, read(large, limits).all] as const);
    const shortest = (index: 0 | 1): number => Math.min(...times.map((time) => time[index]));
    expect(shortest(1)).toBeLessThan(8 * shortest(0));
  },
);
