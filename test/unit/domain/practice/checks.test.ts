import { describe, expect, it } from "vitest";
import { formatAmount } from "../../../../domain/exact/units.ts";
import { MOST_OBJECTS, type Finding } from "../../../../domain/practice/check.ts";
import { CHECK_NAMES, CHECKS, findingsOf } from "../../../../domain/practice/checks.ts";
import type { PracticeRecords } from "../../../../domain/practice/gather.ts";
import { namespaceFact } from "../../../support/facts.ts";
import { CASES, nodes, pods, without } from "../../../support/practice-cases.ts";
import { exempted, goodPod, practicesOf, spend } from "../../../support/practices.ts";

/** Checks of objects that have no label of their own in a fact. They can be switched off. */
const WITHOUT_EXEMPTION: ReadonlySet<string> = new Set(["same-priority", "queue-quota-unused", "starving-queue"]);

/** Runs one check over records. */
function run(name: string, records: Partial<PracticeRecords>) {
  return CHECKS.find((check) => check.name === name)!.check(practicesOf(records));
}

/** Returns the money at stake as text; undefined if the check has none. */
function stakeOf(finding: Finding | undefined): string | undefined {
  return finding?.atStake === undefined ? undefined : formatAmount(finding.atStake);
}

describe("each practice", () => {
  it("has a case here, in the same order", () => {
    expect(CASES.map(({ name }) => name)).toEqual(CHECK_NAMES);
  });

  it.each(CASES)(
    "$name is found, with its objects, team, money and fix",
    ({ name, records, objects, atStake, fix, team }) => {
      const [finding, ...more] = run(name, records);
      expect(more).toEqual([]);
      const texts = finding!.objects.map(({ kind, namespace, name: object, detail }) => {
        const place = kind === "Node" ? object : `${namespace}/${object}`;
        return `${kind} ${place}${detail === "" ? "" : `: ${detail}`}`;
      });
      expect({ texts, atStake: stakeOf(finding), team: finding!.team, count: finding!.count }).toEqual({
        texts: objects,
        atStake,
        team,
        count: objects.length,
      });
      expect(finding!.fixes[0]!.slice(0, fix.length)).toBe(fix);
    },
  );

  it.each(CASES)("$name is not found in a fleet that is nearly the same", ({ name, near }) => {
    expect(run(name, near)).toEqual([]);
  });

  it.each(CASES.filter(({ name }) => !WITHOUT_EXEMPTION.has(name)))(
    "$name is not found where its objects are exempt from it, and found where they are exempt from another",
    ({ name, records }) => {
      expect(run(name, exempted(records, `other,${name}`))).toEqual([]);
      expect(run(name, exempted(records, `other.${name}`))).toEqual([]);
      expect(run(name, exempted(records, "other"))).toHaveLength(1);
    },
  );
});

describe("the practices of a fleet", () => {
  it("are all followed by the good one", () => {
    expect(findingsOf(practicesOf())).toEqual([]);
  });

  it("have texts that end as sentences, and names for labels", () => {
    for (const { name, title, what, why, amount } of CHECKS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect([what, why].every((text) => text.endsWith("."))).toBe(true);
      expect([title, amount].some((text) => text?.endsWith("."))).toBe(false);
    }
  });

  it("are found by severity, then by the money at stake, then by name, without those that are switched off", () => {
    const bad = { ...nodes({ taints: [] }), ...pods("train", { tolerations: ["*"] }), ...without("LimitRange") };
    const names = (off: readonly string[] = []) => findingsOf(practicesOf(bad), off).map(({ check }) => check);
    expect(names()).toEqual(["gpu-node-without-taint", "namespace-without-limit-range", "tolerates-everything"]);
    expect(names(["tolerates-everything"])).toEqual(["gpu-node-without-taint", "namespace-without-limit-range"]);
    const lost = {
      ...nodes({
        others: { pods: 1, names: ["a/b"], requested: { cpuMillicores: 24_000, memoryBytes: 0 } },
        taints: [],
      }),
      ...pods("ada", { asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }], tolerations: ["*"] }),
    };
    expect(
      findingsOf(practicesOf(lost)).map(({ check, atStake }) => [check, atStake && formatAmount(atStake)]),
    ).toEqual([
      ["whole-gpu-for-notebook", "2.25"],
      ["pods-without-gpu-on-gpu-node", "2"],
      ["gpu-node-without-taint", undefined],
      ["tolerates-everything", undefined],
    ]);
  });

  it("are separate for each team and cluster", () => {
    const found = run("tolerates-everything", {
      pods: [
        goodPod("a", { tolerations: ["*"] }),
        goodPod("b", { tolerations: ["*"], namespace: "nlp" }),
        goodPod("c", { tolerations: ["*"], cluster: "far" }),
      ],
      cluster: [
        namespaceFact(),
        namespaceFact({ name: "nlp", uid: "n2", body: { labels: { team: "nlp" }, annotations: {} } }),
      ],
    });
    expect(found.map(({ cluster, team }) => [cluster, team])).toEqual([
      ["test", "vision"],
      ["test", "nlp"],
      ["far", "unowned"],
    ]);
  });

  it("name at most 20 objects, those with the highest cost, and count all", () => {
    const all = Array.from({ length: 50 }, (_, index) => `job-${index}`);
    const [finding] = run("tolerates-everything", {
      pods: all.map((name) => goodPod(name, { tolerations: ["*"], workload: { kind: "Job", name } })),
      workloadSpends: all.map((name, index) => ({
        cluster: "test",
        namespace: "ml",
        kind: "Job",
        name,
        ...spend(String(index)),
      })),
    });
    expect(finding!.objects).toHaveLength(MOST_OBJECTS);
    expect(finding!.objects[0]!.name).toBe("job-49");
    expect(finding).toMatchObject({ count: 50, atStake: undefined });
    expect(finding!.fixes).toHaveLength(5);
  });

  it("count the state waiting as the money of a gang that was half-placed", () => {
    const gang = { kind: "PodGroup", name: "train", size: 2 };
    const [finding] = run("gang-half-placed", {
      ...pods("train", { gang }),
      workloadSpends: [
        { cluster: "test", namespace: "ml", kind: "Job", name: "train", ...spend("100", { waiting: "12.5" }) },
      ],
    });
    expect(stakeOf(finding)).toBe("12.5");
    expect(finding!.objects[0]!.detail).toBe("held GPUs before it was complete, with a gang");
  });

  it("leave out pods that have ended", () => {
    expect(run("tolerates-everything", pods("train", { tolerations: ["*"], phase: "Succeeded" }))).toEqual([]);
  });

  it("know the end of a driver's branch to the month", () => {
    const at = (now: number) => run("driver-end-of-life", { ...nodes({ driverVersion: "535.183.01" }), now }).length;
    expect([at(Date.UTC(2026, 5, 30, 23, 59)), at(Date.UTC(2026, 6, 1))]).toEqual([0, 1]);
  });
});
