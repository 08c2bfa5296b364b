import { gives, records, type RuleCase } from "../../case.ts";
import { gpuLabels, known, series, type RawGpu } from "../../fleet.ts";

const A100 = "NVIDIA A100-SXM4-80GB";
const H100 = "NVIDIA H100 80GB HBM3";
const POD = { namespace: "ml", pod: "train-0" } as const;
const ofGpu = (record: string, value: number, of: RawGpu = {}) =>
  series(record, `${value}x20`, { ...gpuLabels(of), ...of.labels });

/** A GPU, or an instance of one, with its activity, that of an hour where it is known, and whether it is held. */
interface UsedGpu extends RawGpu {
  readonly active: number;
  readonly hour?: number;
  readonly isHeld?: boolean;
}
const used = ({ active, hour, isHeld = true, ...of }: UsedGpu) => [
  ofGpu("gpu:device_activity:ratio", active, of),
  ...(hour === undefined ? [] : [ofGpu("gpu:device_activity:avg1h", hour, of)]),
  ...(isHeld ? [ofGpu("gpu:device_holder:info", 1, { ...of, labels: { ...of.labels, ...POD } })] : []),
];
const instance = (id: number) => ({ GPU_I_ID: String(id) });
const expected = (
  values: Readonly<Record<string, readonly [total: number, held: number, active: number, effective: number]>>,
) =>
  (["total", "held", "active", "effective"] as const).flatMap((use, place) =>
    Object.entries(values).map(([at, numbers]) => {
      const [node, modelName] = at.split(" of ");
      return [{ node: node!, modelName: modelName!, use }, numbers[place]!] as const;
    }),
  );

/** The use of a fleet, from the recorded series of its devices. */
export const FLEET_CASES: readonly RuleCase[] = [
  {
    name: "GPUs are counted by use, node and model; a GPU without a holder is inactive, also if its page shows activity",
    input: [
      ...[0, 1, 2, 3].map((gpu) => known({ gpu })),
      known({ node: "node-2", model: A100 }),
      ...used({ gpu: 0, active: 0.8, hour: 0.5 }),
      ...used({ gpu: 1, active: 0.5, hour: 0.01 }),
      ...used({ gpu: 2, active: 0, hour: 0.009 }),
      ...used({ gpu: 3, active: 0.4, isHeld: false }),
      ...used({ node: "node-2", active: 0.25 }),
    ],
    expect: records(
      "node:gpus_by_use:sum",
      expected({ [`node-1 of ${H100}`]: [4, 3, 1.3, 2], [`node-2 of ${A100}`]: [1, 1, 0.25, 1] }),
      "5m",
    ),
  },
  {
    name: "instances count as parts of their GPU, and values of the whole GPU on the same page do not count",
    input: [
      known(),
      ...used({ active: 0.9, hour: 0.9, isHeld: false }),
      ...used({ labels: instance(1), active: 0.5, hour: 0.5 }),
      ...used({ labels: instance(2), active: 0.5, hour: 0 }),
      ...used({ labels: instance(3), active: 0, isHeld: false }),
      ...used({ labels: instance(4), active: 0, isHeld: false }),
    ],
    expect: records("node:gpus_by_use:sum", expected({ [`node-1 of ${H100}`]: [1, 0.5, 0.25, 0.25] }), "5m"),
  },
  {
    name: "a GPU with two names, and a GPU without a model or activity, count once",
    input: [
      known(),
      series("gpu:exporter_gpu:info", "1x20", {
        ...gpuLabels(),
        instance: "other:9400",
        gpu: "0",
        modelName: "A name",
      }),
      known({ gpu: 1, model: "" }),
      ...used({ active: 0.5 }),
    ],
    expect: [
      ...gives(
        'sum by (use) (node:gpus_by_use:sum{modelName!="unknown"})',
        { '{use="total"}': 1, '{use="held"}': 1, '{use="active"}': 0.5, '{use="effective"}': 1 },
        "5m",
      ),
      ...gives('sum by (use) (node:gpus_by_use:sum{modelName="unknown"})', { '{use="total"}': 1 }, "5m"),
    ],
  },
  {
    name: "GPUs of a cluster are those of its nodes by model and use",
    input: (
      [
        ["a", "node-1", H100, "held", 3],
        ["a", "node-2", H100, "held", 4],
        ["a", "node-2", H100, "total", 8],
        ["a", "node-3", A100, "held", 2],
        ["b", "node-1", H100, "held", 1],
      ] as const
    ).map(([cluster, node, modelName, use, value]) =>
      series("node:gpus_by_use:sum", `${value}x20`, { cluster, node, modelName, use }),
    ),
    expect: records(
      "cluster:gpus_by_use:sum",
      [
        [{ cluster: "a", modelName: H100, use: "held" }, 7],
        [{ cluster: "a", modelName: H100, use: "total" }, 8],
        [{ cluster: "a", modelName: A100, use: "held" }, 2],
        [{ cluster: "b", modelName: H100, use: "held" }, 1],
      ],
      "5m",
    ),
  },
  {
    name: "a node lacks the GPUs that it had within a day and does not have now; a complete node is left out",
    input: [
      ...(["node-1", "node-2"] as const).map((node) => series("node:gpu_devices:max1d", "8x20", { node })),
      series("node:gpu_devices:count", "7x20", { node: "node-1" }),
      series("node:gpu_devices:count", "8x20", { node: "node-2" }),
    ],
    expect: records("node:gpus_missing:count", [[{ node: "node-1" }, 1]], "5m"),
  },
];
