import { describe, expect, it } from "vitest";
import { formatAmount } from "../../../../../domain/exact/units.ts";
import { migLayoutStrands } from "../../../../../domain/practice/checks/mig-layout.ts";
import type { MigMeasure } from "../../../../../domain/share/mig-shape.ts";
import { goodNode, gpusWith, practicesOf, spend } from "../../../../support/practices.ts";

/** A node of 80 a week, of which a part was stranded, with MIG instances. */
interface Layout {
  readonly profiles: Readonly<Record<string, number>>;
  readonly stranded?: string;
  readonly cost?: string;
  readonly model?: string;
  readonly migMeasure?: MigMeasure;
}

function findingsOf({ profiles, stranded = "8", cost = "80", model = "NVIDIA-H100-80GB-HBM3", migMeasure }: Layout) {
  const gpus = gpusWith({ model, mig: { strategy: "mixed", profiles } });
  return migLayoutStrands.check(
    practicesOf({
      pods: [],
      nodes: [goodNode("gpu-a", { gpus })],
      nodeSpends: [{ cluster: "test", node: "gpu-a", ...spend(cost, { stranded }) }],
      migMeasure: migMeasure ?? "max",
    }),
  );
}

const layoutIn = (layout: Layout): string | undefined =>
  /mig\.config=all-(\S+)/.exec(findingsOf(layout)[0]!.fixes[0]!)?.[1];

describe("a MIG layout with rests", () => {
  it("has the stranded cost at stake, from 2 % of the node's cost on", () => {
    const [finding] = findingsOf({ profiles: { "3g.40gb": 2 }, stranded: "8.8" });
    expect(finding!.objects[0]!.detail).toBe("11 % of the cost, now with 2 3g.40gb");
    expect(formatAmount(finding!.atStake!)).toBe("8.8");
    expect(findingsOf({ profiles: { "3g.40gb": 2 }, stranded: "1.6" })).toHaveLength(1);
    expect(findingsOf({ profiles: { "3g.40gb": 2 }, stranded: "1.59" })).toEqual([]);
  });

  it("is not found on a node that costs nothing, or that has no instances any more", () => {
    expect(findingsOf({ profiles: { "3g.40gb": 2 }, stranded: "0", cost: "0" })).toEqual([]);
    expect(findingsOf({ profiles: {} })).toEqual([]);
  });

  it("is mended with the own profile that has the most instances, if it leaves no rest under the billing policy", () => {
    expect(layoutIn({ profiles: { "3g.40gb": 2, "1g.10gb": 9 } })).toBe("1g.10gb");
    expect(layoutIn({ profiles: { "3g.40gb": 2 } })).toBe("3g.40gb");
    expect(layoutIn({ profiles: { "3g.40gb": 2 }, migMeasure: "compute" })).toBe("1g.10gb");
    expect(layoutIn({ profiles: { "1g.10gb": 7 }, migMeasure: "memory" })).toBe("1g.20gb");
  });

  it("is mended with a profile that mig-parted has a layout of, or else by hand", () => {
    expect(layoutIn({ profiles: { "1g.10gb+me": 7, "2g.20gb": 1 } })).toBe("2g.20gb");
    expect(layoutIn({ profiles: { "1c.3g.40gb": 7 } })).toBe("1g.10gb");
    const unknown = findingsOf({ profiles: { "1g.10gb+me": 7 }, model: "NVIDIA-X999" });
    expect(unknown[0]!.fixes[0]).toMatch(/^kubectl get node gpu-a/);
  });
});
