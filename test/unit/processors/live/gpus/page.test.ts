import { beforeEach, describe, expect, it } from "vitest";
import { parseExposition } from "../../../../../collectors/exporters/exposition/parse.ts";
import type { NodeGpus } from "../../../../../domain/inventory.ts";
import { writeGpuPage } from "../../../../../processors/live/gpus/page.ts";
import { GPU_SERIES, labelsOf, type GpuSeries } from "../../../../../processors/live/gpus/series.ts";
import { inventoryFact, namespaceFact, workloadFact } from "../../../../support/facts.ts";
import { gpuWorld, WORLD_CONFIG, type GpuWorld, type Values } from "../../../../support/gpu-world.ts";

const GIB = 2 ** 30;
const gpu = (number: number) => ({ gpu: String(number), uuid: `GPU-a${number}` });
const of = (pod: string) => ({ namespace: "ml", pod });
const ALL: Values = {
  gr_engine_active_ratio: 0.5,
  gpu_utilization_ratio: 0.8,
  fb_used_bytes: 20 * GIB,
  fb_free_bytes: 59 * GIB,
  fb_reserved_bytes: GIB,
  gpu_temperature_celsius: 61,
  power_watts: 412.375,
};
const SERIES: readonly GpuSeries[] = Object.values(GPU_SERIES);

let world: GpuWorld;
beforeEach(() => {
  world = gpuWorld();
});

/** A node of eight GPUs with these changes. */
function node(given: Partial<NodeGpus>): void {
  world.facts.inventory(inventoryFact({ gpus: [{ ...inventoryFact().gpus[0]!, ...given }] }));
}

/** The values of a series, by the values of some labels. */
async function values(name: string, ...labels: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const series = await world.series(name);
  return Object.fromEntries(series.map(([all, value]) => [labels.map((label) => all[label] ?? "").join(" "), value]));
}

describe("the page of GPUs", () => {
  it("has every series of a GPU and of its workload, with its owner, in canonical units", async () => {
    node({});
    world.facts.workload(workloadFact({ labels: { team: "vision", "cost-center": "CC-1" }, queue: "gpu" }));
    world.scrape([{ ...gpu(3), ...of("train-0"), values: ALL }]);
    const workload = 'workload="train",workload_type="training",team="vision",cost_centre="CC-1",queue="gpu"';
    const device = `cluster="test",node="gpu-a",gpu="3",uuid="GPU-a3",gi_id="",namespace="ml",pod="train-0",${workload}`;
    const whole = `cluster="test",namespace="ml",${workload}`;
    const samples = (await world.text()).split("\n").filter((line) => !line.startsWith("#"));
    expect(samples).toEqual([
      `gpu_device_activity_ratio{${device}} 0.8`,
      `gpu_device_memory_used_bytes{${device}} 21474836480`,
      `gpu_device_memory_total_bytes{${device}} 85899345920`,
      `gpu_device_temperature_celsius{${device}} 61`,
      `gpu_device_power_watts{${device}} 412.375`,
      `gpu_device_holders{${device}} 1`,
      `gpu_device_cost_per_hour{${device},currency="USD"} 8`,
      `gpu_workload_gpus{${whole}} 1`,
      `gpu_workload_measured_gpus{${whole}} 1`,
      `gpu_workload_active_gpus{${whole}} 0.8`,
      `gpu_workload_activity_ratio{${whole}} 0.8`,
      `gpu_workload_memory_used_bytes{${whole}} 21474836480`,
      `gpu_workload_temperature_celsius{${whole}} 61`,
      `gpu_workload_power_watts{${whole}} 412.375`,
      `gpu_workload_gpus_cost_per_hour{${whole},currency="USD"} 8`,
      "",
    ]);
  });

  it("has each family once with its help, every series once, and only documented labels", async () => {
    node({});
    for (const name of ["train-0", "train-1", "train-2"]) world.facts.workload(workloadFact({ uid: name, name }));
    world.scrape([0, 1, 2, 3].map((number) => ({ ...gpu(number), ...of(`train-${number}`), values: ALL })));
    world.scrape([{ ...gpu(0), values: ALL }], { node: "gpu-b", target: "b" });
    const text = await world.text();
    const { samples, families, malformed, unterminated } = parseExposition(Buffer.from(text));
    expect([malformed, unterminated]).toEqual([[], false]);
    expect([...families]).toEqual(SERIES.map(({ name, help }) => [name, { help, type: "gauge" }]));
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(new Set(lines.map((line) => line.slice(0, line.lastIndexOf(" ")))).size).toBe(lines.length);
    const runs = samples.filter(({ name }, index) => samples[index - 1]?.name !== name).map(({ name }) => name);
    expect(new Set(runs).size).toBe(runs.length);
    const documented = new Map(SERIES.map((series) => [series.name, labelsOf(series)]));
    expect(samples.filter(({ name, labels }) => String([...labels.keys()]) !== String(documented.get(name)))).toEqual(
      [],
    );
  });

  it("lacks values without a measurement or a price, and never has 0 for them", async () => {
    world = gpuWorld(WORLD_CONFIG.replace("match: {}", "match: { cluster: other }"));
    node({});
    world.facts.workload(workloadFact());
    world.scrape([{ ...gpu(0), ...of("train-0"), values: { fb_used_bytes: GIB, power_watts: -1 } }]);
    const { samples } = parseExposition(Buffer.from(await world.text()));
    expect(samples.map(({ name, value }) => [name, value])).toEqual([
      ["gpu_device_memory_used_bytes", GIB],
      ["gpu_device_holders", 1],
      ["gpu_workload_gpus", 1],
      ["gpu_workload_memory_used_bytes", GIB],
    ]);
  });

  it("has the cost of a free GPU, without an owner", async () => {
    node({});
    world.scrape([{ ...gpu(0), values: ALL }]);
    const labels = { cluster: "test", node: "gpu-a", gpu: "0", uuid: "GPU-a0" };
    expect(await world.series("gpu_device_cost_per_hour")).toEqual([[{ ...labels, currency: "USD" }, 8]]);
    expect(await world.series("gpu_device_holders")).toEqual([[labels, 0]]);
    expect(await world.series("gpu_workload_gpus")).toEqual([]);
  });

  it("has a price for each GPU by its model and the moment, and by samples alone without Kubernetes", async () => {
    world = gpuWorld(`prices:
  - { from: 2026-01-01, match: { model: "*H100*" }, per: gpu-hour, list: "8" }
  - { from: 2026-01-01, match: { model: "*A100*" }, per: gpu-hour, list: "4" }
  - { from: "2026-03-01T12:30:00Z", match: { model: "*A100*" }, per: gpu-hour, list: "5" }`);
    const [h100] = inventoryFact().gpus;
    const kinds = [
      { ...h100!, count: 1 },
      { ...h100!, count: 1, model: "NVIDIA-A100-SXM4-80GB" },
    ];
    world.facts.inventory(inventoryFact({ gpus: kinds }));
    const show = (): void => {
      world.scrape([0, 1].map((number) => ({ ...gpu(number), values: ALL })));
      world.scrape([{ ...gpu(0), model: "NVIDIA A100-SXM4-80GB", values: ALL }], { node: "bare", target: "bare" });
    };
    world.now += 26 * 60_000;
    show();
    const prices = () => values("gpu_device_cost_per_hour", "node", "gpu");
    expect(await prices()).toEqual({ "gpu-a 0": 8, "gpu-a 1": 4, "bare 0": 4 });
    world.now += 4 * 60_000;
    show();
    expect(await prices()).toEqual({ "gpu-a 0": 8, "gpu-a 1": 5, "bare 0": 5 });
  });

  it("has no money if the request excludes it", async () => {
    node({});
    world.facts.workload(workloadFact());
    world.scrape([{ ...gpu(0), ...of("train-0"), values: ALL }]);
    const [all, without] = [await world.text(), await world.text({ withMoney: false })];
    const isMoney = /cost|currency|USD/;
    expect(all.split("\n").filter((line) => isMoney.test(line.replace("cost_centre", "")))).toHaveLength(6);
    expect(without.split("\n").filter((line) => isMoney.test(line.replace("cost_centre", "")))).toEqual([]);
  });

  it("has one cluster if the request names it, and no series for an unknown cluster", async () => {
    world.scrape([{ ...gpu(0), values: ALL }]);
    world.scrape([{ ...gpu(0), values: ALL }], { cluster: "other" });
    const clusters = async (cluster?: string) => {
      const { samples, families } = parseExposition(
        Buffer.from(await world.text(cluster === undefined ? {} : { cluster })),
      );
      return { named: [...new Set(samples.map(({ labels }) => labels.get("cluster")))], families: families.size };
    };
    expect(await clusters()).toEqual({ named: ["test", "other"], families: SERIES.length });
    expect(await clusters("other")).toEqual({ named: ["other"], families: SERIES.length });
    expect(await clusters("nowhere")).toEqual({ named: [], families: SERIES.length });
  });

  it("escapes hostile names, which the reader gets back unchanged", async () => {
    const hostile = 'a"b\\c\nd{e="f"} 1\n# TYPE x y\n 日本 \u{1f4a5} \\n';
    world.facts.workload(
      workloadFact({
        node: hostile,
        name: hostile,
        namespace: hostile,
        workload: { kind: "Job", name: hostile },
        labels: { team: hostile },
      }),
    );
    world.scrape([{ gpu: "0", uuid: hostile, namespace: hostile, pod: hostile, values: ALL }], {
      node: hostile,
      cluster: "test",
    });
    const { samples, malformed } = parseExposition(Buffer.from(await world.text()));
    expect(malformed).toEqual([]);
    expect(Object.fromEntries(samples[0]!.labels)).toMatchObject({
      node: hostile,
      uuid: hostile,
      namespace: hostile,
      pod: hostile,
      workload: hostile,
      team: hostile,
    });
    expect(samples).toHaveLength(15);
  });

  it("can have labels that are longer than a chunk", async () => {
    const name = "x".repeat(300_000);
    world.scrape([{ ...gpu(0), namespace: "ml", pod: name, values: ALL }]);
    expect((await world.series("gpu_device_activity_ratio")).map(([{ pod }]) => pod)).toEqual([name]);
  });

  it("fails if its reader fails while it is written", async () => {
    const long = "x".repeat(300_000);
    world.scrape([0, 1, 2, 3].map((number) => ({ ...gpu(number), namespace: "ml", pod: long, values: ALL })));
    const options = { currency: undefined };
    const page = writeGpuPage(world.devices, options, () => Promise.reject(new Error("the reader has gone")));
    await expect(page).rejects.toThrow("the reader has gone");
  });

  it("names a holder without a fact by the exporter's labels and the owner of its namespace", async () => {
    world.facts.clusterFact(namespaceFact({ body: { labels: { team: "nlp" }, annotations: {} } }));
    world.scrape([
      { ...gpu(0), ...of("notebook-0"), values: ALL },
      { ...gpu(1), hpcJob: "4711", values: ALL },
    ]);
    expect(await values("gpu_device_activity_ratio", "namespace", "pod", "workload", "workload_type", "team")).toEqual({
      "ml notebook-0 notebook-0 other nlp": 0.8,
      " 4711 4711 other unowned": 0.8,
    });
    expect(await values("gpu_workload_gpus_cost_per_hour", "workload")).toEqual({ "notebook-0": 8, "4711": 8 });
  });
});

describe("the page of a GPU that is divided into instances", () => {
  const instance = (id: string, profile: string, more: object, own: Values) => ({
    ...gpu(0),
    instance: id,
    profile,
    ...more,
    values: { ...own, gpu_temperature_celsius: 61, power_watts: 400 },
  });
  const rows = [
    instance("1", "3g.40gb", of("train-0"), { gr_engine_active_ratio: 0.5, fb_used_bytes: 10 * GIB }),
    instance("2", "1g.10gb", { repeatsGpu: true }, { gr_engine_active_ratio: 0, fb_used_bytes: GIB }),
  ];
  beforeEach(() => {
    node({ mig: { strategy: "mixed", profiles: { "3g.40gb": 1, "1g.10gb": 1 } } });
    const asks = [{ kind: "mig", resource: "nvidia.com/mig-3g.40gb", profile: "3g.40gb", count: 1 }] as const;
    world.facts.workload(workloadFact({ asks }));
    world.scrape(rows);
  });

  it("has the values of instances on them, and the values of the GPU once, without an owner", async () => {
    expect(await values("gpu_device_activity_ratio", "gi_id", "pod")).toEqual({ "1 train-0": 0.5, "2 ": 0 });
    expect(await values("gpu_device_memory_used_bytes", "gi_id")).toEqual({ 1: 10 * GIB, 2: GIB });
    expect(await values("gpu_device_holders", "gi_id")).toEqual({ 1: 1, 2: 0 });
    expect(await values("gpu_device_temperature_celsius", "gi_id", "pod")).toEqual({ " ": 61 });
    expect(await values("gpu_device_power_watts", "gi_id", "pod")).toEqual({ " ": 400 });
  });

  it("splits its cost over the instances and the part without instances, without a rest", async () => {
    expect(await values("gpu_device_cost_per_hour", "gi_id")).toEqual({ "": 2.857143, 1: 4, 2: 1.142857 });
  });

  it("gives a workload its instance's part of the GPU", async () => {
    expect(await values("gpu_workload_gpus")).toEqual({ "": 0.5 });
    expect(await values("gpu_workload_active_gpus")).toEqual({ "": 0.25 });
    expect(await values("gpu_workload_activity_ratio")).toEqual({ "": 0.5 });
    expect(await values("gpu_workload_power_watts")).toEqual({ "": 200 });
    expect(await values("gpu_workload_gpus_cost_per_hour")).toEqual({ "": 4 });
  });

  it("has only those values of the GPU's own row that no instance has", async () => {
    world.scrape([
      {
        ...gpu(0),
        values: { gr_engine_active_ratio: 0.3, fb_used_bytes: 11 * GIB, fb_total_bytes: 80 * GIB, power_watts: 400 },
      },
      ...rows.map((row) => ({ ...row, repeatsGpu: true as const })),
    ]);
    expect(await values("gpu_device_memory_used_bytes", "gi_id")).toEqual({ 1: 10 * GIB, 2: GIB });
    expect(await values("gpu_device_memory_total_bytes", "gi_id")).toEqual({ "": 80 * GIB });
    expect(await values("gpu_device_power_watts", "gi_id")).toEqual({ "": 400 });
  });

  it("gives AMD's partitions equal parts", async () => {
    world = gpuWorld();
    world.scrape(
      [0, 1, 2, 3].map((part) => ({ ...gpu(0), partition: String(part), values: { gpu_utilization_ratio: 0.5 } })),
    );
    expect(await values("gpu_device_cost_per_hour", "gi_id")).toEqual({ 0: 2, 1: 2, 2: 2, 3: 2 });
  });
});

describe("the page of a shared GPU", () => {
  const sliced = (pods: readonly string[]) => {
    node({ replicas: 4, sharing: "time-slicing" });
    for (const name of pods) world.facts.workload(workloadFact({ uid: name, name, workload: { kind: "Job", name } }));
  };
  const repeats = { repeatsGpu: true, repeatsDevice: true } as const;

  it("has each holder's own part if the exporter separates holders, and the GPU once", async () => {
    sliced(["a", "b"]);
    world.scrape([
      { ...gpu(0), values: ALL },
      {
        ...gpu(0),
        ...of("a"),
        vgpu: "0",
        ...repeats,
        values: { process_utilization_ratio: 0.2, process_fb_used_bytes: 15 * GIB, power_watts: 412.375 },
      },
      {
        ...gpu(0),
        ...of("b"),
        vgpu: "1",
        ...repeats,
        values: { process_utilization_ratio: 0.6, process_fb_used_bytes: 5 * GIB, power_watts: 412.375 },
      },
    ]);
    expect(await values("gpu_device_activity_ratio", "pod")).toEqual({ "": 0.8 });
    expect(await values("gpu_device_power_watts", "pod")).toEqual({ "": 412.375 });
    expect(await values("gpu_device_holders", "pod")).toEqual({ "": 2 });
    expect(await values("gpu_device_cost_per_hour", "pod")).toEqual({ "": 8 });
    expect(await values("gpu_process_activity_ratio", "pod")).toEqual({ a: 0.2, b: 0.6 });
    expect(await values("gpu_process_memory_used_bytes", "pod")).toEqual({ a: 15 * GIB, b: 5 * GIB });
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ a: 0.25, b: 0.25 });
    // b uses the part that a leaves, and all of its own quarter.
    expect(await values("gpu_workload_activity_ratio", "workload")).toEqual({ a: 0.8, b: 1 });
    expect(await values("gpu_workload_memory_used_bytes", "workload")).toEqual({ a: 15 * GIB, b: 5 * GIB });
    expect(await values("gpu_workload_power_watts", "workload")).toEqual({ a: 103.09375, b: 103.09375 });
    expect(await values("gpu_workload_gpus_cost_per_hour", "workload")).toEqual({ a: 2, b: 2 });
  });

  it("has no part of a holder if the exporter repeats the GPU's values for each", async () => {
    sliced(["a", "b"]);
    world.scrape([
      { ...gpu(0), ...of("a"), vgpu: "0", values: ALL },
      { ...gpu(0), ...of("b"), vgpu: "1", ...repeats, values: ALL },
    ]);
    expect(await values("gpu_device_memory_used_bytes", "pod")).toEqual({ "": 20 * GIB });
    expect(await world.series("gpu_process_memory_used_bytes")).toEqual([]);
    expect(await world.series("gpu_workload_memory_used_bytes")).toEqual([]);
    expect(await world.series("gpu_workload_measured_gpus")).toEqual([]);
    expect(await values("gpu_workload_temperature_celsius", "workload")).toEqual({ a: 61, b: 61 });
  });

  it("has a pod once if it was recreated under its name and the exporter shows both", async () => {
    const own = (podUid: string) => ({ ...gpu(0), ...of("a"), podUid, values: { process_utilization_ratio: 0.25 } });
    world.scrape([
      { ...gpu(0), values: ALL },
      { ...own("uid-1"), ...repeats },
      { ...own("uid-2"), ...repeats },
    ]);
    expect(await world.series("gpu_process_activity_ratio")).toHaveLength(1);
  });

  it("has the replicas that the exporter proves if no other source counts GPUs", async () => {
    const asks = [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }] as const;
    for (const name of ["a", "b"])
      world.facts.workload(workloadFact({ uid: name, name, asks, workload: { kind: "Job", name } }));
    node({ count: 4, countedBy: "capacity", offered: 4 });
    world.scrape([{ ...gpu(0), values: ALL }]);
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ a: 0.25, b: 0.25 });
    expect(await values("gpu_device_holders", "pod")).toEqual({ "": 2 });
    // The node's fact comes again; the exporter's evidence still counts.
    const [kind] = inventoryFact().gpus;
    const gpus = [{ ...kind!, count: 8, countedBy: "capacity", offered: 8 }] as const;
    world.facts.inventory(inventoryFact({ resourceVersion: "101", gpus }));
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ a: 0.125, b: 0.125 });
  });

  it("has the partitions of AMD's GPUs that the exporter proves", async () => {
    const asks = [{ kind: "gpu", resource: "amd.com/gpu", count: 2 }] as const;
    world.facts.workload(workloadFact({ uid: "a", name: "a", asks, workload: { kind: "Job", name: "a" } }));
    node({ vendor: "amd", count: 8, countedBy: "capacity", offered: 8 });
    world.scrape([{ ...gpu(0), values: ALL }]);
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ a: 0.25 });
  });

  it("names no holder if several hold it in common", async () => {
    sliced(["a", "b", "c"]);
    world.scrape([{ ...gpu(0), values: ALL }]);
    expect(await values("gpu_device_activity_ratio", "pod")).toEqual({ "": 0.8 });
    expect(await values("gpu_device_holders", "pod")).toEqual({ "": 3 });
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ a: 0.25, b: 0.25, c: 0.25 });
    expect(await world.series("gpu_workload_activity_ratio")).toEqual([]);
  });

  it("names no holder on GPUs of which a pod has one at an unknown index", async () => {
    node({});
    world.facts.workload(workloadFact());
    world.scrape([
      { ...gpu(0), values: ALL },
      { ...gpu(1), values: ALL },
    ]);
    expect((await world.series("gpu_device_activity_ratio")).map(([{ pod }]) => pod)).toEqual([undefined, undefined]);
    expect(await values("gpu_device_holders", "gpu")).toEqual({ 0: 1, 1: 1 });
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ train: 1 });
    expect(await world.series("gpu_workload_power_watts")).toEqual([]);
  });

  it("does not give a whole GPU to a pod that has a fraction of it", async () => {
    node({});
    const asks = [{ kind: "vgpu", scheduler: "hami", count: 1, coresPercent: 25, memoryPercent: 25 }] as const;
    const evidence = [{ by: "annotation", uuid: "GPU-a0", container: 0, memoryMiB: 20_000, coresPercent: 25 }] as const;
    world.facts.workload(workloadFact({ asks, evidence }));
    world.scrape([{ ...gpu(0), values: ALL }]);
    expect(await values("gpu_device_cost_per_hour", "pod")).toEqual({ "": 8 });
    expect(await values("gpu_workload_gpus", "workload")).toEqual({ train: 0.25 });
    expect(await values("gpu_workload_power_watts", "workload")).toEqual({ train: 103.09375 });
  });

  it("gives a GPU once to a pod that has it with two containers", async () => {
    node({});
    world.facts.workload(workloadFact());
    const row = { ...gpu(0), ...of("train-0"), values: ALL };
    world.scrape([
      { ...row, container: "a" },
      { ...row, container: "b", ...repeats },
    ]);
    expect(await values("gpu_device_activity_ratio", "pod")).toEqual({ "train-0": 0.8 });
    expect(await values("gpu_workload_memory_used_bytes", "workload")).toEqual({ train: 20 * GIB });
  });
});

describe("the sums of a workload", () => {
  it("are weighted by the held part of each device, and leave out values without a measurement", async () => {
    node({});
    for (const name of ["train-0", "train-1", "train-2"]) world.facts.workload(workloadFact({ uid: name, name }));
    world.scrape([
      {
        ...gpu(0),
        ...of("train-0"),
        values: { gpu_utilization_ratio: 1, gpu_temperature_celsius: 50, power_watts: 300 },
      },
      {
        ...gpu(1),
        ...of("train-1"),
        values: { gpu_utilization_ratio: 0.5, gpu_temperature_celsius: 70, power_watts: 200 },
      },
    ]);
    expect(await values("gpu_workload_gpus")).toEqual({ "": 3 });
    expect(await values("gpu_workload_measured_gpus")).toEqual({ "": 2 });
    expect(await values("gpu_workload_active_gpus")).toEqual({ "": 1.5 });
    expect(await values("gpu_workload_activity_ratio")).toEqual({ "": 0.75 });
    expect(await values("gpu_workload_temperature_celsius")).toEqual({ "": 70 });
    expect(await values("gpu_workload_power_watts")).toEqual({ "": 500 });
    expect(await values("gpu_workload_gpus_cost_per_hour")).toEqual({ "": 24 });
  });

  it("count the GPUs of a claim that samples show", async () => {
    node({});
    world.facts.workload(workloadFact({ asks: [{ kind: "claim", claim: "four" }] }));
    world.scrape([0, 1, 2, 3].map((number) => ({ ...gpu(number), ...of("train-0"), values: ALL })));
    expect(await values("gpu_workload_gpus")).toEqual({ "": 4 });
  });

  it("add up over several processors to the sums of one processor with all nodes", async () => {
    const worlds = [gpuWorld(), gpuWorld(), gpuWorld()];
    for (const each of worlds) {
      for (const [index, name] of ["gpu-a", "gpu-b", "gpu-c"].entries()) {
        each.facts.inventory(inventoryFact({ node: name, uid: name }));
        each.facts.workload(workloadFact({ uid: `pod-${index}`, name: `train-${index}`, node: name }));
        const row = {
          ...gpu(0),
          ...of(`train-${index}`),
          values: { gpu_utilization_ratio: (index + 1) / 4, power_watts: 100 },
        };
        each.scrape([row], { node: name, target: name });
      }
    }
    const [all, one, two] = worlds as [GpuWorld, GpuWorld, GpuWorld];
    one.isOwn = (_, name) => name === "gpu-a";
    two.isOwn = (_, name) => name !== "gpu-a";
    const sum = async (of: readonly GpuWorld[], name: string): Promise<number> => {
      const found = await Promise.all(of.map((each) => each.series(name)));
      return found.flat().reduce((total, [, value]) => total + value, 0);
    };
    for (const name of [
      "gpu_workload_gpus",
      "gpu_workload_active_gpus",
      "gpu_workload_measured_gpus",
      "gpu_workload_power_watts",
      "gpu_workload_gpus_cost_per_hour",
    ])
      expect([name, await sum([one, two], name)]).toEqual([name, await sum([all], name)]);
    const mean =
      (await sum([one, two], "gpu_workload_active_gpus")) / (await sum([one, two], "gpu_workload_measured_gpus"));
    expect(mean).toBe((await all.series("gpu_workload_activity_ratio"))[0]![1]);
  });
});
