import { describe, expect, it } from "vitest";
import type { PageLimits } from "../../collectors/exporters/page/kind.ts";
import { createPageReader, createReader, type PageReading } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { SERVING_PAGES } from "../../collectors/exporters/serving/pages.ts";
import { createTenants, TENANT_RULES } from "../../collectors/exporters/serving/tenants.ts";
import type { Steps } from "../../runtime/steps.ts";
import { hostilePages, hostileServingPages, type HostilePage } from "../support/hostile-pages.ts";

const origin = { cluster: "c", node: "n", target: "t", collector: "k" };
const pod = { namespace: "chat", pod: "qwen-0", podUid: "uid" };

/** Reads the pages of one target in steps. */
type ReadSteps = (page: Buffer) => Steps<PageReading>;

function ofExporter(limits: Partial<PageLimits> = {}): ReadSteps {
  const reader = createPageReader(createTemplates(256e6), limits);
  return (page) => reader.steps({ key: "t", origin: () => origin }, page, true);
}

function ofEngine(): ReadSteps {
  const reader = createReader(SERVING_PAGES, createTemplates(256e6));
  const source = { key: "t", origin: { ...origin, ...pod }, tenants: createTenants(TENANT_RULES) };
  return (page) => reader.steps(source, page, true);
}

/** How long a target may block others: the duration of one step of its page. */
const LONGEST_STEP_MILLIS = 50;
const TRIES = 3;

/** The processor time of each step of reading a page and its next page. A busy machine does not count. */
function read({ first, next = first }: HostilePage, stepsOf: ReadSteps): readonly number[] {
  const times: number[] = [];
  for (const page of [first, next]) {
    const steps = stepsOf(page);
    for (let done: boolean | undefined = false; done !== true;) {
      const before = process.cpuUsage();
      ({ done } = steps.next());
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
  }
  return times;
}

/** The processor time of the longest step. The garbage collector can run in any step, so each step counts with its shortest time. */
function longestStep(page: HostilePage, stepsOf: () => ReadSteps): number {
  const [first, ...others] = Array.from({ length: TRIES }, () => read(page, stepsOf()));
  return first!.reduce(
    (longest, time, step) => Math.max(longest, Math.min(time, ...others.map((each) => each[step]!))),
    0,
  );
}

const sum = (times: readonly number[]): number => times.reduce((total, time) => total + time, 0);

const BOTH = [
  { what: "an exporter", pagesOf: hostilePages, stepsOf: ofExporter },
  { what: "an engine", pagesOf: hostileServingPages, stepsOf: ofEngine },
] as const;

describe.each(BOTH)("a hostile page of $what", ({ pagesOf, stepsOf }) => {
  it.each(pagesOf(4_000_000))("is read in steps of less than 50 ms: $name", (page) => {
    expect(longestStep(page, stepsOf)).toBeLessThan(LONGEST_STEP_MILLIS);
  });

  it.each(pagesOf(32_000_000))("of the largest size is read, or refused, in seconds: $name", (page) => {
    expect(sum(read(page, stepsOf()))).toBeLessThan(20_000);
  });
});

it.each(["devices without end", "a pod on each of them", "a host for each device", "partitions without end"])(
  "the time to read a page grows in proportion to its size, if the limits allow it: %s",
  (name) => {
    const limits = { devices: 50_000, messageBytes: 1e9 };
    const pageOf = (bytes: number): HostilePage => hostilePages(bytes).find((page) => page.name === name)!;
    const [small, large] = [pageOf(1_100_000), pageOf(4_400_000)];
    // The shortest of several times: the garbage collector can run in any of them.
    const times = Array.from(
      { length: TRIES },
      () => [sum(read(small, ofExporter(limits))), sum(read(large, ofExporter(limits)))] as const,
    );
    const shortest = (index: 0 | 1): number => Math.min(...times.map((time) => time[index]));
    expect(shortest(1)).toBeLessThan(8 * shortest(0));
  },
);
