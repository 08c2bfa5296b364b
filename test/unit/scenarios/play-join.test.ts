import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { unplayable } from "../../../scenarios/play/unplayable.ts";
import { readScenario } from "../../../scenarios/read.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { joinedSamples, minute, scenarioWith, type PlayedSample } from "../../support/played.ts";

const FOLDER = "test/scenarios";
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));
const scenarios = files.map((file) => [file, readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file)] as const);

/** The possible holders of a row's device by the scenario's own text: the pods that the text puts on it, or else the pods without known devices. */
function namesOn({ pods, claims, period }: Scenario, { at, node, device }: PlayedSample): readonly string[] {
  const part = device.instance ?? device.partition;
  const here = pods.filter((pod) => {
    const from = pod.scheduled === undefined ? period.start : pod.scheduled;
    const until = pod.finished === undefined ? period.end : (pod.finished ?? Infinity);
    return pod.node === node && from !== null && from <= at && at < until;
  });
  const devicesOf = (pod: (typeof pods)[number]) =>
    "dra" in pod.holds ? claims[pod.holds.dra.claim]!.devices : (pod.devices ?? []);
  const known = here.filter((pod) =>
    devicesOf(pod).some((of) =>
      typeof of === "number"
        ? String(of) === device.gpu && part === undefined
        : String(of.gpu) === device.gpu && String(of.instance) === part,
    ),
  );
  const open = here.filter((pod) => devicesOf(pod).length === 0);
  return (known.length > 0 ? known : open).map((pod) => pod.hpcJob ?? pod.name);
}

/** A sentence for each row with a holder that the scenario does not have on the device. */
function strangers(scenario: Scenario): readonly string[] {
  return joinedSamples(scenario).flatMap((sample) => {
    const names = namesOn(scenario, sample);
    const { name, holders } = sample.holder;
    const isRight = names.length === 0 ? holders === 0 : names.includes(name);
    const where = `${new Date(sample.at).toISOString()} ${sample.node} ${JSON.stringify(sample.device)}`;
    return isRight ? [] : [`${where}: ${name || "nobody"}, not ${names.join(" or ") || "nobody"}`];
  });
}

/** The short form of each row's holders at a minute: device, pod's label, evidence, name, number of holders. */
function toldAt(samples: readonly PlayedSample[], minutes: number): readonly string[] {
  return samples
    .filter(({ at }) => at === Date.parse(minute(minutes)))
    .map(({ device, holder: { evidence, name, holders } }) => {
      const place = [device.gpu, device.instance ?? device.partition].filter((part) => part !== undefined).join(".");
      return `${place} ${device.pod ?? "-"}: ${evidence} ${name || "-"} of ${holders}`;
    });
}

describe("a played scenario", () => {
  it.each(scenarios)("is joined to the pods that the scenario has on each device: %s", (_, scenario) => {
    expect(unplayable(scenario)).toEqual([]);
    expect(strangers(scenario)).toEqual([]);
  });

  it("names one pod on each row of a time-sliced GPU, by the replica that the pod has for its whole time", () => {
    const pod = (name: string, from: number, until: number): object => ({
      name,
      namespace: "lab",
      node: "t4",
      holds: { replicas: 1 },
      devices: [0],
      scheduled: minute(from),
      finished: minute(until),
      activity: 0.4,
    });
    const samples = joinedSamples(
      scenarioWith({
        nodes: [{ name: "t4", model: "Tesla-T4", gpus: 1, sharing: { strategy: "time-slicing", replicas: 4 } }],
        pods: [pod("a", 0, 30), pod("b", 10, 120), pod("c", 40, 120)],
      }),
    );
    expect(toldAt(samples, 20)).toEqual(["0 a: label a of 1", "0 b: label b of 1"]);
    expect(toldAt(samples, 50)).toEqual(["0 b: label b of 1", "0 c: label c of 1"]);
    const replicas = new Set(samples.map(({ device: { pod: name, vgpu } }) => `${name} ${vgpu}`));
    expect([...replicas]).toEqual(["a 0", "b 1", "c 0"]);
    expect(
      new Set(samples.filter(({ device }) => device.pod === "b").map(({ values }) => values["gr_engine_active_ratio"])),
    ).toEqual(new Set([0.2, 0.1]));
  });

  it("is joined by annotation, by claim and by group according to the scenario's evidence", () => {
    const pod = (name: string, gpu: number, given: object): object => ({
      name,
      namespace: "lab",
      node: "a100",
      holds: { gpus: 1 },
      devices: [gpu],
      activity: 0.5,
      ...given,
    });
    const samples = joinedSamples(
      scenarioWith({
        nodes: [{ name: "a100", model: "NVIDIA-A100-SXM4-40GB", gpus: 4, mig: { 3: ["3g.20gb", "3g.20gb"] } }],
        pods: [
          pod("hami", 0, { holds: { hami: { memoryMiB: 8192 } }, evidence: "annotation" }),
          pod("dra", 1, { evidence: "dra" }),
          pod("one", 2, { holds: { fraction: 0.5 }, group: "g" }),
          pod("two", 2, { holds: { fraction: 0.25 }, group: "g" }),
          pod("mig", 3, { holds: { mig: "3g.20gb" }, devices: [{ gpu: 3, instance: 1 }], evidence: "dra" }),
        ],
      }),
    );
    expect(toldAt(samples, 1)).toEqual([
      "0 -: annotation hami of 1",
      "1 dra: dra dra of 1",
      "2 gpu-reservation-a100-g-gpu-2: group one of 2",
      "3.0 -: none - of 0",
      "3.1 mig: dra mig of 1",
    ]);
  });

  it("leaves pods without known devices to the devices held in common, by kind", () => {
    const samples = joinedSamples(
      scenarioWith({
        nodes: [{ name: "a100", model: "NVIDIA-A100-SXM4-40GB", gpus: 3, mig: { 2: ["1g.5gb", "2g.10gb"] } }],
        pods: [
          { name: "known", namespace: "lab", node: "a100", holds: { gpus: 1 }, devices: [0], activity: 1 },
          { name: "open", namespace: "lab", node: "a100", holds: { gpus: 1 }, activity: 0.5 },
          { name: "slice", namespace: "lab", node: "a100", holds: { mig: "2g.10gb" }, activity: 0.25 },
        ],
      }),
    );
    expect(toldAt(samples, 0)).toEqual([
      "0 known: label known of 1",
      "1 -: node open of 1",
      "2.0 -: none - of 0",
      "2.1 -: node slice of 1",
    ]);
    const first = samples.filter(({ at }) => at === Date.parse(minute(0)));
    expect(first.map(({ values }) => values["gr_engine_active_ratio"])).toEqual([1, 0.5, 0, 0.25]);
  });

  it("names jobs without Kubernetes on a node without facts", () => {
    const scenario = scenarioWith({
      nodes: [{ name: "slurm-1", model: "NVIDIA-L4", gpus: 2 }],
      pods: [
        {
          name: "4711",
          namespace: "hpc",
          node: "slurm-1",
          holds: { gpus: 1 },
          devices: [0],
          hpcJob: "4711",
          finished: minute(60),
          activity: 0.5,
        },
      ],
    });
    const samples = joinedSamples(scenario);
    expect(toldAt(samples, 59)).toEqual(["0 -: hpc-job 4711 of 1", "1 -: none - of 0"]);
    expect(toldAt(samples, 60)).toEqual(["0 -: none - of 0", "1 -: none - of 0"]);
  });
});
