import { describe, expect, it } from "vitest";
import type { ScrapedTarget } from "../../../../reports/read/quality.ts";
import { standingOf } from "../../../../reports/read/standing.ts";

const NOW = 1_000_000;
const target = (name: string, secondsAgo: number, given: Partial<ScrapedTarget> = {}): ScrapedTarget => ({
  cluster: "prod",
  node: "gpu-a",
  target: name,
  scrapes: 10,
  failed: 0,
  failure: "",
  detail: "",
  lastAt: NOW - secondsAgo * 1000,
  intervalSeconds: 30,
  ...given,
});
const names = (targets: readonly ScrapedTarget[]): readonly string[] => targets.map((each) => each.target);

describe("the standing of targets", () => {
  it("is gone after ten intervals if another target of the node answers, and otherwise late", () => {
    const { bad, gone } = standingOf(
      [
        target("new", 10),
        target("replaced", 301),
        target("late", 299),
        target("alone", 301, { node: "gpu-b" }),
        target("replaced and failed", 400, { failed: 3 }),
      ],
      NOW,
    );
    expect(names(bad)).toEqual(["late", "alone"]);
    expect(names(gone)).toEqual(["replaced", "replaced and failed"]);
  });
});
