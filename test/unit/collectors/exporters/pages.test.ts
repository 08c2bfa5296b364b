import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inspectPage, type Inspection } from "../../../../collectors/exporters/inspect.ts";

const FOLDER = "test/fixtures/pages";
const DCGM = "dcgm-exporter";
const AMD = "amd-device-metrics-exporter";

/** The expected reading of each dialect's page: its exporter, its devices with some of their values, and the dropped lines. */
const EXPECTED: Readonly<
  Record<
    string,
    {
      readonly exporter: string;
      readonly devices: readonly {
        readonly device: object;
        readonly absent?: readonly string[];
        readonly values?: object;
      }[];
      readonly drops?: readonly (readonly [line: number, reason: string])[];
    }
  >
> = {
  "dcgm-1-names.prom": {
    exporter: DCGM,
    devices: [
      {
        device: { gpu: "0", hostname: "dcgm-exporter-k9x2p" },
        values: {
          gpu_utilization_ratio: 0.64,
          fb_used_bytes: 2 ** 31,
          fb_free_bytes: 14 * 2 ** 30,
          sm_clock_hertz: 1.38e9,
          energy_joules: 7_200,
        },
      },
    ],
  },
  "dcgm-2.0-no-model.prom": {
    exporter: DCGM,
    devices: [
      { device: { gpu: "0" }, values: { power_watts: 38.25, gpu_utilization_ratio: 0, sm_clock_hertz: 1.35e8 } },
    ],
  },
  "dcgm-3.3-empty-labels.prom": {
    exporter: DCGM,
    devices: [
      {
        device: {
          model: "NVIDIA A10G",
          driverVersion: "535.129.03",
          container: "main",
          namespace: "vision",
          pod: "detector-0",
        },
        values: { xid_code: 0, fb_used_bytes: 11 * 2 ** 30 },
      },
      { device: { gpu: "1", hostname: "ip-10-0-3-7" }, absent: ["pod", "namespace"], values: { xid_code: 43 } },
    ],
  },
  "dcgm-4.8-absent-labels.prom": {
    exporter: DCGM,
    devices: [
      { device: { pciBusId: "00000000:1B:00.0" }, absent: ["pod"], values: { gpu_utilization_ratio: 0 } },
      { device: { namespace: "nlp", pod: "chat-6d5f" }, absent: ["podUid"], values: { gpu_utilization_ratio: 0.55 } },
    ],
    drops: [
      [7, "unsupported-zero"],
      [8, "unsupported-zero"],
    ],
  },
  "dcgm-4.8.3-sorted.prom": {
    exporter: DCGM,
    devices: [
      {
        device: { gpu: "0", instance: "3", profile: "2g.20gb", namespace: "nlp", pod: "tune-0" },
        values: { power_watts: 402.9, energy_joules: 98_765_432 },
      },
      { device: { gpu: "1" }, absent: ["instance"], values: { energy_joules: 126_272_101.025 } },
    ],
  },
  "dcgm-4.9-base-units.prom": {
    exporter: DCGM,
    devices: [
      {
        device: { model: "NVIDIA H200", hostname: "gpu-h200-2" },
        values: {
          fb_used_bytes: 2 ** 32,
          energy_joules: 7.5e6,
          sm_clock_hertz: 1.98e9,
          gr_engine_active_ratio: 0.75,
        },
      },
    ],
  },
  "dcgm-old-namespace.prom": {
    exporter: DCGM,
    devices: [
      { device: { uuid: "GPU-0a1b2c3d-0000-4000-8000-00000000000a", namespace: "ml", pod: "train-0" } },
      { device: { gpu: "1" }, absent: ["pod"] },
    ],
  },
  "dcgm-mig.prom": {
    exporter: DCGM,
    devices: [
      { device: { instance: "1", profile: "3g.20gb", pod: "a" }, values: { gr_engine_active_ratio: 0.91 } },
      { device: { instance: "9", profile: "1g.5gb", pod: "b", repeatsGpu: true }, values: { power_watts: 251.3 } },
      { device: { gpu: "1" }, absent: ["instance"], values: { power_watts: 52 } },
    ],
  },
  "dcgm-time-slicing.prom": {
    exporter: DCGM,
    devices: [
      { device: {}, absent: ["pod"], values: { gpu_utilization_ratio: 0.8 } },
      { device: { pod: "notebook-0", repeatsDevice: true }, values: { process_utilization_ratio: 0.6 } },
      { device: { pod: "notebook-1", repeatsDevice: true }, values: { process_utilization_ratio: 0.2 } },
    ],
  },
  "dcgm-hpc-job.prom": {
    exporter: DCGM,
    devices: [{ device: { hpcJob: "4711" } }, { device: { gpu: "1" }, absent: ["hpcJob"] }],
  },
  "dcgm-dra.prom": {
    exporter: DCGM,
    devices: [
      { device: { claim: { name: "train-0-gpu", namespace: "ml", pool: "gb200-3", device: "gpu-0" } } },
      {
        device: {
          claim: {
            device: "gpu-1-mig-1g24gb-0",
            migProfile: "1g.24gb",
            migUuid: "MIG-0a1b2c3d-0000-4000-8000-000000000013",
          },
        },
      },
    ],
  },
  "dcgm-vgpu.prom": {
    exporter: DCGM,
    devices: [{ device: { model: "GRID A100-10C" }, values: { vgpu_license_state: 1, fb_used_bytes: 2 ** 29 } }],
    drops: [[3, "unsupported-zero"]],
  },
  "dcgm-text-values.prom": {
    exporter: DCGM,
    devices: [{ device: { model: "NVIDIA A800-SXM4-80GB" }, values: { gpu_utilization_ratio: 0.3 } }],
    drops: [
      [2, "not-a-number"],
      [3, "sentinel"],
    ],
  },
  "dcgm-through-prometheus.prom": {
    exporter: DCGM,
    devices: [{ device: { namespace: "ml", pod: "train-0", container: "main", hostname: "gpu-a10-1" } }],
  },
  "amd.prom": {
    exporter: AMD,
    devices: [
      {
        device: { gpu: "0", serial: "692251001001", model: "AMD INSTINCT MI300X", pod: "train-0" },
        absent: ["partition"],
        values: { gr_engine_active_ratio: 0.75, fb_total_bytes: 196_592e6 },
      },
    ],
    drops: [[5, "no-device"]],
  },
  "amd-partitions.prom": {
    exporter: AMD,
    devices: [
      { device: { gpu: "0", partition: "0" }, values: { gr_engine_active_ratio: 0.1 } },
      { device: { gpu: "0", partition: "1" }, values: { gr_engine_active_ratio: 0.2 } },
    ],
  },
  "amd-upper-case.prom": {
    exporter: AMD,
    devices: [
      {
        device: { gpu: "0", serial: "692251001003", model: "AMD INSTINCT MI250X", hostname: "gpu-mi250x-1" },
        values: { gpu_temperature_celsius: 51 },
      },
    ],
  },
  "intel-xpum-1.prom": {
    exporter: "intel-xpu-manager",
    devices: [
      {
        device: { model: "Intel(R) Data Center GPU Max 1550", pciBusId: "0000:4d:00.0" },
        values: { gr_engine_active_ratio: 0.5, power_watts: 310 },
      },
    ],
  },
  "intel-xpum-2.prom": {
    exporter: "intel-xpu-manager",
    devices: [
      {
        device: { pciBusId: "0000:01:00.0" },
        values: { gpu_utilization_ratio: 0.125, gr_engine_active_ratio: 1, energy_joules: 8_400 },
      },
    ],
  },
  "hami-vgpu-monitor.prom": {
    exporter: "hami-vgpu-monitor",
    devices: [
      {
        device: { gpu: "0", uuid: "GPU-0a1b2c3d-0000-4000-8000-000000000041", model: "Tesla T4", hostname: "gpu-a" },
        absent: ["pod"],
        values: { gpu_utilization_ratio: 0.8, fb_used_bytes: 6 * 2 ** 30 },
      },
      {
        device: { gpu: "0", model: "Tesla T4", namespace: "nlp", pod: "n-0", container: "c" },
        values: { process_utilization_ratio: 0.05, process_fb_used_bytes: 2 ** 31 },
      },
      {
        device: { gpu: "0", model: "Tesla T4", namespace: "vision", pod: "v-0" },
        values: { process_utilization_ratio: 0.75, process_fb_used_bytes: 2 ** 32 },
      },
    ],
  },
  "hami-vgpu-monitor-legacy.prom": {
    exporter: "hami-vgpu-monitor",
    devices: [
      {
        device: { gpu: "0", model: "Tesla T4", hostname: "gpu-a" },
        values: { gpu_utilization_ratio: 0.8, fb_used_bytes: 6 * 2 ** 30 },
      },
      {
        device: { gpu: "0", namespace: "vision", pod: "v-0" },
        values: { process_utilization_ratio: 0.75, process_fb_used_bytes: 2 ** 32 },
      },
    ],
  },
  "nvidia-gpu-exporter.prom": {
    exporter: "nvidia_gpu_exporter",
    devices: [
      {
        device: {
          uuid: "GPU-0a1b2c3d-0000-4000-8000-000000000017",
          gpu: "0",
          model: "NVIDIA GeForce RTX 4090",
          driverVersion: "551.86",
        },
        values: { gpu_utilization_ratio: 0.34, fb_used_bytes: 2 ** 31, power_watts: 142.5 },
      },
    ],
    drops: [[7, "no-device"]],
  },
  "nvidia-gpu-exporter-nvml.prom": {
    exporter: "nvidia_gpu_exporter",
    devices: [
      {
        device: { uuid: "GPU-0a1b2c3d-0000-4000-8000-000000000021", gpu: "0", model: "NVIDIA H100 80GB HBM3" },
        absent: ["instance", "profile"],
        values: { power_watts: 310.5, energy_joules: 5_250_000 },
      },
      {
        device: {
          uuid: "GPU-0a1b2c3d-0000-4000-8000-000000000021",
          gpu: "0",
          model: "NVIDIA H100 80GB HBM3",
          pciBusId: "00000000:1B:00.0",
          instance: "3",
          profile: "3g.40gb",
        },
        values: {
          gr_engine_active_ratio: 0.75,
          sm_active_ratio: 0.5,
          fb_used_bytes: 2e10,
          fb_total_bytes: 4.2e10,
        },
      },
      {
        device: { gpu: "0", instance: "7", profile: "1g.10gb" },
        values: { gr_engine_active_ratio: 0, fb_used_bytes: 0, fb_total_bytes: 1.05e10 },
      },
      {
        device: { uuid: "GPU-0a1b2c3d-0000-4000-8000-000000000022", gpu: "1" },
        values: { gpu_utilization_ratio: 0, power_watts: 71, xid_code: 79, energy_joules: 1_500_000 },
      },
    ],
    drops: [[27, "no-device"]],
  },
};

function inspect(name: string): Inspection {
  const inspection = inspectPage(readFileSync(`${FOLDER}/${name}`));
  if ("reason" in inspection) throw new Error(`${name}: ${inspection.detail}`);
  return inspection;
}

describe("a page of each dialect", () => {
  it("is listed here by its name", () => {
    expect(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith(".prom"))
        .toSorted(),
    ).toEqual(Object.keys(EXPECTED).toSorted());
  });

  it.each(Object.entries(EXPECTED))(
    "%s is read as its dialect, and no line is dropped without a reason",
    (name, expected) => {
      const { exporter, devices, drops } = inspect(name);
      expect(exporter).toBe(expected.exporter);
      expect(devices).toHaveLength(expected.devices.length);
      for (const [index, { absent = [], ...of }] of expected.devices.entries()) {
        expect(devices[index]).toMatchObject(of);
        for (const field of absent) expect(devices[index]!.device).not.toHaveProperty(field);
      }
      expect(drops.map(({ line, reason }) => [line, reason])).toEqual(expected.drops ?? []);
    },
  );
});
