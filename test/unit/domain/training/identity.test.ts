import { describe, expect, it } from "vitest";
import { readRunId, runIdOf, runNameOf, runsOf } from "../../../../domain/training/identity.ts";
import { lanesOf } from "../../../../domain/training/lanes.ts";
import type { WorkloadFact } from "../../../../domain/workload.ts";
import { workloadFact } from "../../../support/facts.ts";
import { clock, runPod } from "../../../support/training/pods.ts";

const RULES = { keys: ["mlflow.run-id"], gapMillis: 3_600_000 };

/** A finished pod of a Job, from one time to another. */
function podOf(owner: string, from: string, until: string, more: Partial<WorkloadFact> = {}): WorkloadFact {
  const times = { created: clock(from), scheduled: clock(from), started: clock(from), finished: clock(until) };
  return workloadFact({
    uid: `${owner}@${from}`,
    times,
    phase: "Failed",
    endReason: "failed",
    owners: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: owner }],
    ...more,
  });
}

const uidsOf = (facts: readonly WorkloadFact[]) =>
  runsOf(facts, RULES).map(({ name, pods }) => [name, ...pods.map(({ uid }) => uid)]);

describe("a training run", () => {
  it("has the pods of one owner, however long it had none", () => {
    const facts = [podOf("job-1", "08:00", "09:00"), podOf("job-1", "15:00", "16:00")];
    expect(uidsOf(facts)).toEqual([["train", "job-1@08:00", "job-1@15:00"]]);
  });

  it("has a successor of the same name that comes in time; one that comes later is another run", () => {
    const facts = [
      podOf("job-3", "12:01", "13:00"),
      podOf("job-1", "08:00", "09:00"),
      podOf("job-2", "10:00", "11:00"),
    ];
    expect(uidsOf(facts)).toEqual([
      ["train", "job-1@08:00", "job-2@10:00"],
      ["train", "job-3@12:01"],
    ]);
  });

  it("has the pods of different owners that a key joins, for any time between them", () => {
    const keyed = { labels: { "mlflow.run-id": "r7" } };
    const other = { workload: { kind: "Job", name: "again" }, annotations: { "mlflow.run-id": "r7" }, labels: {} };
    const facts = [podOf("job-1", "08:00", "09:00", keyed), podOf("job-2", "20:00", "21:00", other)];
    const [run, ...others] = runsOf(facts, RULES);
    expect({ ...run, pods: run!.pods.length, others }).toMatchObject({
      kind: "mlflow.run-id",
      name: "r7",
      pods: 2,
      others: [],
      id: "test/ml/mlflow.run-id/r7@2026-03-02T08:00:00.000Z",
    });
  });

  it("is each object of a schedule", () => {
    const owners = ["nightly-1", "nightly-2"].map((name) => [
      { apiVersion: "batch/v1", kind: "Job", name, uid: name },
      { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "cron" },
    ]);
    const workload = { kind: "CronJob", name: "nightly" };
    const facts = owners.map((chain, index) =>
      podOf("x", `0${8 + index}:00`, `0${8 + index}:30`, { owners: chain, workload }),
    );
    expect(runsOf(facts, RULES).map(({ kind, name }) => [kind, name])).toEqual([
      ["Job", "nightly-1"],
      ["Job", "nightly-2"],
    ]);
  });

  it("has the object of its newest pod: the top owner below a schedule, or the pod itself", () => {
    const job = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-2" };
    const objectOf = (...facts: WorkloadFact[]) => runsOf(facts, RULES)[0]!.object;
    expect(objectOf(podOf("job-2", "10:00", "11:00"), podOf("job-1", "08:00", "09:00"))).toEqual(job);
    const schedule = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "cron" };
    const workload = { kind: "CronJob", name: "nightly" };
    expect(objectOf(podOf("x", "08:00", "09:00", { owners: [job, schedule], workload }))).toEqual(job);
    const alone = podOf("x", "08:00", "09:00", { owners: [], name: "alone", uid: "u" });
    expect(objectOf(alone)).toEqual({ apiVersion: "v1", kind: "Pod", name: "alone", uid: "u" });
  });

  it("is of its cluster and its namespace", () => {
    const facts = [
      podOf("job-1", "08:00", "09:00"),
      podOf("job-1", "08:00", "09:00", { namespace: "other" }),
      podOf("job-1", "08:00", "09:00", { cluster: "other" }),
    ];
    expect(runsOf(facts, RULES)).toHaveLength(3);
  });

  it("is a gang if a gang is known, or if its owner trains on many pods", () => {
    const gang = { kind: "PodGroup", name: "g", size: 2 };
    const jobSet = [{ apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name: "train", uid: "set" }];
    const isGang = (more: Partial<WorkloadFact>) => runsOf([podOf("job-1", "08:00", "09:00", more)], RULES)[0]!.isGang;
    expect([isGang({}), isGang({ gang }), isGang({ owners: jobSet })]).toEqual([false, true, true]);
  });

  it("has an id that names it, with any characters", () => {
    const name = { cluster: "a b", namespace: "ml", kind: "example.com/run", name: "x@y/z" };
    expect(runIdOf(name, clock("08:00"))).toBe("a%20b/ml/example.com%2Frun/x%40y%2Fz@2026-03-02T08:00:00.000Z");
    expect(readRunId(runIdOf(name, clock("08:00")))).toEqual({ ...name, begun: clock("08:00") });
    for (const wrong of ["", "train", "a/b/c/d", "a/b/c@2026-03-02", "a/b/c/d@yesterday", "a/b/c/%@2026-03-02"])
      expect(readRunId(wrong)).toBeUndefined();
  });

  it("has no key of an empty value", () => {
    expect(runNameOf(workloadFact({ labels: { "mlflow.run-id": "" } }), RULES).kind).toBe("Job");
  });
});

describe("lanes", () => {
  it("are one for a gang", () => {
    const pods = [runPod("w-0", ["08:00"]), runPod("w-1", ["08:00"])];
    expect(lanesOf({ isGang: true, pods })).toEqual([pods]);
  });

  it("are each pod alone with its replacements; after a success comes new work", () => {
    const pods = [
      runPod("a", ["08:00", "08:00", "09:00"]),
      runPod("b", ["08:00", "08:00", "08:30", "completed"]),
      runPod("c", ["08:00", "08:00", "08:50", "evicted"]),
      runPod("d", ["08:31", "08:32"]),
      runPod("e", ["09:01", "09:02"]),
      runPod("f", ["09:01", "09:02"]),
      runPod("g", ["09:01", "09:02"]),
    ];
    const names = lanesOf({ isGang: false, pods }).map((lane) => lane.map(({ name }) => name).join(""));
    expect(names).toEqual(["af", "b", "ce", "d", "g"]);
  });
});
