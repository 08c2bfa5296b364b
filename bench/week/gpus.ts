import { FROM, hash, UNTIL, type WeekFleet, type WeekGpu } from "./fleet.ts";
import {
  always,
  between,
  DAY,
  familyOf,
  FOUR_MINUTES,
  HOUR,
  MINUTE,
  QUICK,
  TWO_MINUTES,
  type Labels,
  type WeekFamily,
  type WeekSeries,
} from "./series.ts";

const CODES = ["13", "31", "48", "79", "94"];

const keys = ({ node, uuid }: WeekGpu): Labels => ({ cluster: node.cluster, node: node.name, UUID: uuid });

/** Yields the recorded series of each GPU. */
export function gpuFamilies({ gpus, shown }: WeekFleet): readonly WeekFamily[] {
  const ofGpus = (
    name: string,
    seconds: number,
    valueOf: (gpu: WeekGpu) => WeekSeries["valueAt"],
    more: (gpu: WeekGpu) => Labels = () => ({}),
  ): WeekFamily =>
    familyOf({ name, seconds }, gpus, (gpu) => ({
      labels: { ...keys(gpu), ...more(gpu) },
      isShown: gpu.node.name === shown.node,
      valueAt: valueOf(gpu),
    }));
  const model = ({ node }: WeekGpu): Labels => ({ modelName: node.model });
  const onPage = (each: WeekGpu): Labels => ({ ...model(each), instance: each.node.instance, gpu: String(each.gpu) });
  const shared = gpus.filter(({ number }) => number % 20 === 0);
  return [
    ofGpus("gpu:exporter_gpu:info", MINUTE, () => always(1), onPage),
    ofGpus("gpu:model:info", MINUTE, () => always(1), model),
    ofGpus("gpu:device_activity:ratio", QUICK, ({ number }) => between(0, 1, number)),
    ofGpus("gpu:memory_used:ratio", MINUTE, ({ number }) => between(0.4, 0.9, number)),
    ofGpus("gpu:temperature:celsius", MINUTE, ({ number }) => between(40, 80, number)),
    ofGpus("gpu:temperature_left:celsius", MINUTE, ({ number }) => between(4, 40, number)),
    ofGpus(
      "gpu:slowdown_temperature:celsius",
      FOUR_MINUTES,
      () => always(87),
      () => ({ limit: "own" }),
    ),
    familyOf({ name: "gpu:device_replicas:count", seconds: MINUTE }, shared, (gpu) => ({
      labels: keys(gpu),
      valueAt: always(2),
    })),
  ];
}

/** Faults of few GPUs, which panels search over the whole week: of every n-th GPU on every day for some time. */
export function faultFamilies({ gpus, pods, shown }: WeekFleet): readonly WeekFamily[] {
  const days = Array.from({ length: (UNTIL - FROM) / DAY }, (_, day) => FROM + day * DAY);
  const ofSome = (name: string, seconds: number, every: number, lasts: number, more: Labels = {}): WeekFamily => {
    const faults = gpus
      .filter(({ number }) => number % every === every - 1)
      .flatMap((gpu) => days.map((day) => ({ gpu, from: day + (hash(gpu.number, day) % 20) * HOUR })));
    return familyOf({ name, seconds, isReadWhole: true }, faults, ({ gpu, from }) => ({
      labels: { ...keys(gpu), ...more },
      from,
      until: from + lasts,
      // The faults of the selected node are drawn too.
      isShown: true,
      valueAt: always(1),
    }));
  };
  // For one pod of a hundred, and for those of the selected node.
  const faults = pods
    .filter(({ gpu }, index) => index % 100 === 0 || gpu.node.name === shown.node)
    .map((pod) => ({ pod, at: Math.max(pod.from, FROM) + HOUR }));
  return [
    ofSome("gpu:throttle_reason:info", QUICK, 20, 2 * HOUR, { reason: "sw_thermal" }),
    ofSome("gpu:ecc_double_bit_errors:count", TWO_MINUTES, 200, 4 * HOUR),
    ofSome("gpu:uncorrectable_remapped_rows:increase1d", FOUR_MINUTES, 500, 4 * HOUR),
    ofSome("gpu:row_remap_failure:info", TWO_MINUTES, 2_000, 4 * HOUR),
    ofSome("gpu:memory_repair_pending:info", TWO_MINUTES, 400, 4 * HOUR),
    ofSome("gpu:nvlink_crc_errors:rate5m", TWO_MINUTES, 80, HOUR),
    ofSome("gpu:pcie_replays:rate5m", TWO_MINUTES, 80, HOUR),
    ofSome("gpu:telemetry_frozen:info", FOUR_MINUTES, 1_000, HOUR),
    familyOf({ name: "gpu:xid_new:info", seconds: QUICK, isReadWhole: true }, faults, ({ pod, at }) => ({
      labels: {
        ...keys(pod.gpu),
        code: CODES[pod.gpu.number % CODES.length]!,
        source: "counter",
        namespace: pod.namespace,
        pod: pod.name,
      },
      from: at,
      until: at + QUICK,
      valueAt: always(1),
    })),
  ];
}
