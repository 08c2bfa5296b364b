import { describe, expect, it } from "vitest";
import { inspectPage, type Inspection } from "../../../../collectors/exporters/inspect.ts";

function inspect(page: string): Inspection {
  const inspection = inspectPage(Buffer.from(page));
  if ("reason" in inspection) throw new Error(inspection.detail);
  return inspection;
}

/** The values of a page of one device. */
function valuesOf(page: string): Readonly<Record<string, number>> {
  const { devices } = inspect(page);
  expect(devices).toHaveLength(1);
  return devices[0]!.values;
}

const GPU = 'gpu="0",UUID="GPU-1"';
const mib = 2 ** 20;

describe("dcgm-exporter's names and units", () => {
  it("are converted to SI units and ratios", () => {
    expect(
      valuesOf(
        [
          `DCGM_FI_DEV_SM_CLOCK{${GPU}} 1410`,
          `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{${GPU}} 1500`,
          `DCGM_FI_DEV_FB_USED{${GPU}} 3`,
          `DCGM_FI_DEV_GPU_UTIL{${GPU}} 97`,
          `DCGM_FI_PROF_GR_ENGINE_ACTIVE{${GPU}} 0.250000`,
        ].join("\n"),
      ),
    ).toEqual({
      sm_clock_hertz: 1.41e9,
      energy_joules: 1.5,
      fb_used_bytes: 3 * mib,
      gpu_utilization_ratio: 0.97,
      gr_engine_active_ratio: 0.25,
    });
  });

  it("of 4.9.0 with DCGM 4.7 already have base units", () => {
    expect(
      valuesOf(
        [
          `DCGM_FI_DEV_SM_CLOCK_HERTZ{${GPU}} 1.41e+09`,
          `DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL{${GPU}} 1500`,
          `DCGM_FI_DEV_FB_USED_BYTES{${GPU}} 3145728`,
          `DCGM_FI_DEV_BOARD_POWER_WATTS{${GPU}} 301.5`,
          `DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{${GPU}} 0.25`,
        ].join("\n"),
      ),
    ).toEqual({
      sm_clock_hertz: 1.41e9,
      energy_joules: 1500,
      fb_used_bytes: 3 * mib,
      power_watts: 301.5,
      gr_engine_active_ratio: 0.25,
    });
  });

  it("ignore an old HELP text that calls a profiling ratio a percentage", () => {
    const page = `# HELP DCGM_FI_PROF_GR_ENGINE_ACTIVE Ratio of time the graphics engine is active (in %).\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{${GPU}} 0.9`;
    expect(valuesOf(page)).toEqual({ gr_engine_active_ratio: 0.9 });
  });

  it.each([
    ["a number above 1 is a percent", [`DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 87`], 0.87],
    ["a fraction is a ratio", [`DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 0.87`], 0.87],
    [
      "a 1 beside base units is the whole",
      [`DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 1`, `DCGM_FI_DEV_SM_CLOCK_HERTZ{${GPU}} 1e9`],
      1,
    ],
    [
      "a 1 beside megahertz is one percent",
      [`DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 1`, `DCGM_FI_DEV_SM_CLOCK{${GPU}} 1000`],
      0.01,
    ],
    [
      "a 1 is the whole if HELP contains ratio",
      ["# HELP DCGM_FI_DEV_GPU_UTIL_RATIO GPU utilization ratio.", `DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 1`],
      1,
    ],
    [
      "a percentage in another series decides for the page",
      [`DCGM_FI_DEV_GPU_UTIL_RATIO{${GPU}} 1`, 'DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="1",UUID="GPU-2"} 40'],
      0.01,
    ],
  ])("GPU_UTIL_RATIO has two units: %s", (_, lines, ratio) => {
    expect(inspect(lines.join("\n")).devices[0]!.values["gpu_utilization_ratio"]).toBeCloseTo(ratio, 12);
  });

  it.each([
    ["(in us)", 1e-6],
    ["(in ns)", 1e-9],
    ["", 1e-6],
  ])("have the unit of HELP %s for the duration of a violation", (unit, seconds) => {
    const page = `# HELP DCGM_FI_DEV_POWER_VIOLATION Throttling duration ${unit}\nDCGM_FI_DEV_POWER_VIOLATION{${GPU}} 5000`;
    expect(valuesOf(page)["power_violation_seconds"]).toBeCloseTo(5000 * seconds, 15);
  });

  it("may have two metrics for one value: the preferred one counts, the other keeps its own name", () => {
    const page = `DCGM_FI_DEV_FB_USED{${GPU}} 3\nDCGM_FI_DEV_FB_USED_BYTES{${GPU}} 4000000\n`;
    const [device] = inspect(page).devices;
    expect(device!.values).toEqual({ fb_used_bytes: 4_000_000 });
    expect(device!.unknown).toEqual({ DCGM_FI_DEV_FB_USED: 3 });
  });

  it("are kept if they are unknown, with their distinguishing labels", () => {
    const page = [
      `DCGM_EXP_XID_ERRORS_COUNT{${GPU},window_size_in_ms="300000",xid="79"} 2`,
      `DCGM_EXP_XID_ERRORS_COUNT{${GPU},window_size_in_ms="300000",xid="31"} 1`,
      `DCGM_FI_DEV_FAN_SPEED{${GPU},rack="r7"} 40`,
    ].join("\n");
    expect(inspect(page).devices[0]!.unknown).toEqual({
      'DCGM_EXP_XID_ERRORS_COUNT{window_size_in_ms="300000",xid="31"}': 1,
      'DCGM_EXP_XID_ERRORS_COUNT{window_size_in_ms="300000",xid="79"}': 2,
      'DCGM_FI_DEV_FAN_SPEED{rack="r7"}': 40,
    });
  });
});

describe("dcgm-exporter's labels", () => {
  it("belong to the row if every series of the row has them", () => {
    const page = [
      `DCGM_FI_DEV_GPU_UTIL{${GPU},Hostname="n",pod="p",namespace="ns",container="c",app="resnet"} 1`,
      `DCGM_FI_DEV_GPU_TEMP{${GPU},Hostname="n",pod="p",namespace="ns",container="c",app="resnet"} 1`,
    ].join("\n");
    expect(inspect(page).devices[0]!.device).toMatchObject({
      hostname: "n",
      pod: "p",
      namespace: "ns",
      container: "c",
      labels: { app: "resnet" },
    });
  });

  it("are absent if they are empty or a sentinel", () => {
    const { device } = inspect(`DCGM_FI_DEV_GPU_UTIL{${GPU},pod="",pod_uid="",GPU_I_PROFILE="<<<NULL>>>"} 1`)
      .devices[0]!;
    expect(device).toEqual({ gpu: "0", uuid: "GPU-1" });
  });

  it("that a Prometheus has renamed belong to the workload, and the plain ones to the exporter", () => {
    const page = `DCGM_FI_DEV_GPU_UTIL{${GPU},exported_pod="train-0",exported_namespace="ml",exported_container="main",pod="dcgm-exporter-x",namespace="gpu-operator",instance="10.0.0.1:9400",job="dcgm"} 1`;
    expect(inspect(page).devices[0]!.device).toEqual({
      gpu: "0",
      uuid: "GPU-1",
      pod: "train-0",
      namespace: "ml",
      container: "main",
    });
  });

  it("name the DRA claim", () => {
    const page = `DCGM_FI_DEV_GPU_UTIL{${GPU},dra_claim_name="c1",dra_claim_namespace="ml",dra_driver_name="gpu.nvidia.com",dra_pool_name="node-a",dra_device_name="gpu-0"} 1`;
    expect(inspect(page).devices[0]!.device.claim).toEqual({
      name: "c1",
      namespace: "ml",
      driver: "gpu.nvidia.com",
      pool: "node-a",
      device: "gpu-0",
    });
  });

  it("of links, switches and CPUs are not GPUs", () => {
    const { devices, drops } = inspect(
      [
        'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="0"} 40',
        'DCGM_FI_DEV_NVLINK_CRC_ERROR{nvlink="3",gpu="0",gpu_uuid="GPU-1"} 0',
        'DCGM_FI_DEV_CPU_UTIL_TOTAL{cpu="0"} 0.5',
        "go_goroutines 7",
        "dcgm_exporter_build_info 1",
        `DCGM_FI_DEV_GPU_UTIL{${GPU}} 1`,
      ].join("\n"),
    );
    expect(devices).toHaveLength(1);
    expect(drops.map(({ line, reason }) => [line, reason])).toEqual([
      [1, "not-a-gpu"],
      [2, "not-a-gpu"],
      [3, "not-a-gpu"],
      [4, "not-a-gpu"],
      [5, "no-device"],
    ]);
  });
});

describe("a shared GPU", () => {
  const shared = (metric: string, pod: string, vgpu: string, value: string) =>
    `${metric}{${GPU},vgpu="${vgpu}",namespace="ml",pod="${pod}"} ${value}`;

  it("has a row per pod up to 4.8.1, with the device's values repeated and marked", () => {
    const { devices } = inspect(
      [shared("DCGM_FI_DEV_GPU_UTIL", "a", "0", "80"), shared("DCGM_FI_DEV_GPU_UTIL", "b", "1", "80")].join("\n"),
    );
    expect(devices.map(({ device, values }) => [device.pod, device.repeatsDevice ?? false, values])).toEqual([
      ["a", false, { gpu_utilization_ratio: 0.8 }],
      ["b", true, { gpu_utilization_ratio: 0.8 }],
    ]);
  });

  it("has the device's own values once from 4.8.2 on, and each pod's own part of utilization and memory", () => {
    const { devices } = inspect(
      [
        `DCGM_FI_DEV_GPU_UTIL{${GPU}} 80`,
        shared("DCGM_FI_DEV_GPU_UTIL", "a", "0", "60"),
        shared("DCGM_FI_DEV_GPU_UTIL", "b", "1", "20"),
        `DCGM_FI_DEV_FB_USED{${GPU}} 30`,
        shared("DCGM_FI_DEV_FB_USED", "a", "0", "20"),
        shared("DCGM_FI_DEV_FB_USED", "b", "1", "10"),
        shared("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "a", "0", "0.9"),
        shared("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "b", "1", "0.9"),
        shared("DCGM_FI_DEV_POWER_USAGE", "a", "0", "300"),
        shared("DCGM_FI_DEV_POWER_USAGE", "b", "1", "300"),
      ].join("\n"),
    );
    expect(devices.map(({ device }) => [device.pod, device.repeatsGpu, device.repeatsDevice])).toEqual([
      [undefined, undefined, undefined],
      ["a", true, true],
      ["b", true, true],
    ]);
    expect(devices.map(({ values }) => values)).toEqual([
      { gpu_utilization_ratio: 0.8, fb_used_bytes: 30 * mib, gr_engine_active_ratio: 0.9, power_watts: 300 },
      {
        process_utilization_ratio: 0.6,
        process_fb_used_bytes: 20 * mib,
        gr_engine_active_ratio: 0.9,
        power_watts: 300,
      },
      {
        process_utilization_ratio: 0.2,
        process_fb_used_bytes: 10 * mib,
        gr_engine_active_ratio: 0.9,
        power_watts: 300,
      },
    ]);
  });
});

describe("re-exports", () => {
  it("have _total at the end of a counter's name, and the HELP text of its family", () => {
    const { devices, drops } = inspect(
      [
        "# HELP DCGM_FI_DEV_POWER_VIOLATION Throttling duration due to power constraints (in ns).",
        "# TYPE DCGM_FI_DEV_POWER_VIOLATION counter",
        `DCGM_FI_DEV_POWER_VIOLATION_total{${GPU}} 2e9`,
        `DCGM_FI_DEV_POWER_VIOLATION_created{${GPU}} 1.76e+09`,
        `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total{${GPU}} 5500`,
      ].join("\n"),
    );
    expect(devices[0]!.values).toEqual({ power_violation_seconds: 2, energy_joules: 5.5 });
    expect(drops).toMatchObject([{ line: 4, reason: "not-a-value" }]);
  });

  it("have label names in upper or lower case", () => {
    const own = 'GPU="0",uuid="GPU-1",modelname="NVIDIA A30",Pci_Bus_Id="00000000:01:00.0"';
    const { devices } = inspect(
      [
        `DCGM_FI_PROF_GR_ENGINE_ACTIVE{${own},gpu_i_id="3",gpu_i_profile="1g.6gb"} 0.25`,
        `DCGM_FI_PROF_GR_ENGINE_ACTIVE{${own},gpu_i_id="4",gpu_i_profile="1g.6gb"} 0.75`,
        `DCGM_FI_PROF_GR_ENGINE_ACTIVE{${own},NVLink="0"} 0.5`,
      ].join("\n"),
    );
    expect(devices.map(({ device, values }) => [device.model, device.instance, device.profile, values])).toEqual([
      ["NVIDIA A30", "3", "1g.6gb", { gr_engine_active_ratio: 0.25 }],
      ["NVIDIA A30", "4", "1g.6gb", { gr_engine_active_ratio: 0.75 }],
    ]);
  });
});

describe("an invalid value", () => {
  it.each([
    ["2147483632", "sentinel"],
    ["9223372036854775794", "sentinel"],
    ["140737488355328", "sentinel"],
    ["<<<NOT_SUPPORTED>>>", "sentinel"],
    ["ERROR - FAILED TO CONVERT TO STRING", "sentinel"],
    ["4294967295", "out-of-range"],
    ["101.5", "out-of-range"],
    ["-3", "out-of-range"],
    ["NaN", "not-a-number"],
    ["+Inf", "not-a-number"],
    ["-Inf", "not-a-number"],
    ["twelve", "not-a-number"],
  ])("%s drops only its line, with the reason %s", (value, reason) => {
    const { devices, drops } = inspect(`DCGM_FI_DEV_GPU_UTIL{${GPU}} ${value}\nDCGM_FI_DEV_GPU_TEMP{${GPU}} 40\n`);
    expect(drops).toMatchObject([{ line: 1, reason }]);
    expect(devices[0]!.values).toEqual({ gpu_temperature_celsius: 40 });
  });

  it("is not one that exceeds a limit by a rounding error", () => {
    expect(valuesOf(`DCGM_FI_PROF_SM_ACTIVE{${GPU}} 1.000001`)).toEqual({ sm_active_ratio: 1 });
  });

  it("is a zero of a temperature that the GPU cannot measure, but not of a margin", () => {
    const { devices, drops } = inspect(`DCGM_FI_DEV_MEMORY_TEMP{${GPU}} 0\nDCGM_FI_DEV_GPU_TEMP_LIMIT{${GPU}} 0\n`);
    expect(drops).toMatchObject([{ line: 1, reason: "unsupported-zero" }]);
    expect(devices[0]!.values).toEqual({ temperature_margin_celsius: 0 });
  });
});

describe("other exporters", () => {
  it("nvidia_gpu_exporter: the info series names the GPU that other series identify by UUID alone", () => {
    const { exporter, devices, drops } = inspect(
      [
        'nvidia_smi_gpu_info{uuid="df6e",name="NVIDIA GeForce RTX 2080",driver_version="471.11",pci_bus_id="00000000:71:00.0",index="0"} 1',
        'nvidia_smi_utilization_gpu_ratio{uuid="df6e"} 0.42',
        'nvidia_smi_memory_used_bytes{uuid="df6e"} 7.06740224e+08',
        "nvidia_smi_last_collect_success 1",
      ].join("\n"),
    );
    expect(exporter).toBe("nvidia_gpu_exporter");
    expect(devices[0]!.device).toEqual({
      uuid: "GPU-df6e",
      model: "NVIDIA GeForce RTX 2080",
      driverVersion: "471.11",
      pciBusId: "00000000:71:00.0",
      gpu: "0",
    });
    expect(devices[0]!.values).toEqual({ gpu_utilization_ratio: 0.42, fb_used_bytes: 706_740_224 });
    expect(drops).toMatchObject([{ line: 4, reason: "no-device" }]);
  });

  it.each([
    ["the later of two", ["1.7724e+09", "1.7723e+09"], 13],
    ["the first of two at one time", ["1.7724e+09", "1.7724e+09"], 13],
    ["the one that has a time", ["NaN", "1.7723e+09"], 79],
  ])("nvidia_gpu_exporter: the last XID is %s", (_, [ofFirst, ofSecond], code) => {
    const page = [
      'nvidia_smi_gpu_info{uuid="df6e",index="0"} 1',
      `nvidia_smi_xid_last_timestamp_seconds{uuid="df6e",xid="13"} ${ofFirst}`,
      `nvidia_smi_xid_last_timestamp_seconds{uuid="df6e",xid="79"} ${ofSecond}`,
    ];
    expect(valuesOf(page.join("\n"))).toEqual({ xid_code: code });
  });

  it("HAMi's monitor on one page with dcgm-exporter: the exporter's values and name have precedence", () => {
    const { exporter, devices } = inspect(
      [
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",modelName="Tesla T4"} 60',
        'hami_host_gpu_utilization_ratio{device_index="0",device_uuid="GPU-a",node="h"} 55',
        'hami_container_device_utilization_ratio{device_uuid="GPU-a",namespace="ml",pod="a-0",container="c"} 45',
        'hami_container_device_utilization_ratio{device_uuid="GPU-a",namespace="ml",pod="b-0",container="c"} 5',
      ].join("\n"),
    );
    expect(exporter).toBe("dcgm-exporter");
    expect(devices.map(({ device: { gpu, model, pod }, values }) => [gpu, model, pod, values])).toEqual([
      ["0", "Tesla T4", undefined, { gpu_utilization_ratio: 0.6 }],
      ["0", "Tesla T4", "a-0", { process_utilization_ratio: 0.45 }],
      ["0", "Tesla T4", "b-0", { process_utilization_ratio: 0.05 }],
    ]);
  });

  it("nvidia_gpu_exporter: an XID that is not a code drops its line", () => {
    const { devices, drops } = inspect(
      'nvidia_smi_power_draw_watts{uuid="df6e"} 71\nnvidia_smi_xid_last_timestamp_seconds{uuid="df6e",xid="?"} 1.7e+09',
    );
    expect(devices[0]!.values).toEqual({ power_watts: 71 });
    expect(drops).toMatchObject([{ line: 2, reason: "not-a-value" }]);
  });

  it("AMD: percentages, megabytes and microjoules, with and without the prefix", () => {
    const labels = 'gpu_id="1",gpu_uuid="u-1",serial_number="s",card_series="AMD Instinct MI300X",job_id="77"';
    for (const prefix of ["", "amd_"]) {
      const { exporter, devices } = inspect(
        [
          `${prefix}gpu_gfx_activity{${labels}} 50`,
          `${prefix}gpu_used_vram{${labels}} 100`,
          `${prefix}gpu_energy_consumed{${labels}} 2000000`,
          `${prefix}gpu_clock{${labels},clock_index="0",clock_type="system"} 2100`,
        ].join("\n"),
      );
      expect(exporter).toBe("amd-device-metrics-exporter");
      expect(devices[0]!.device).toMatchObject({ gpu: "1", model: "AMD Instinct MI300X", hpcJob: "77" });
      expect(devices[0]!.values).toEqual({
        gr_engine_active_ratio: 0.5,
        fb_used_bytes: 1e8,
        energy_joules: 2,
        sm_clock_hertz: 2.1e9,
      });
    }
  });

  it.each([
    ["a serial number", 'serial_number="s-0",gpu_uuid="u-PART"', ""],
    ["a UUID", 'gpu_uuid="u-0"', ""],
    ["a PCI address", 'pcie_bus_id="0000:05:00.0",gpu_uuid="0"', ""],
    ["a UUID, with the optional labels", 'gpu_uuid="u-0"', 'gpu_compute_partition_type="cpx",gpu_partition_id="PART",'],
  ])("AMD: partitions are parts of the GPU with the same %s", (_, common, optional) => {
    const partition = (index: number, part: number): string =>
      `gpu_gfx_activity{gpu_id="${index}",${`${optional}${common}`.replaceAll("PART", String(part))}} 50`;
    const whole = 'gpu_gfx_activity{gpu_id="7",serial_number="s-1",gpu_uuid="u-1"} 10';
    const { devices } = inspect([whole, partition(2, 0), partition(3, 1), partition(4, 2)].join("\n"));
    expect(devices.map(({ device }) => [device.gpu, device.partition])).toEqual([
      ["0", "0"],
      ["0", "1"],
      ["0", "2"],
      ["1", undefined],
    ]);
    expect(devices.map(({ device }) => device.repeatsGpu ?? false)).toEqual([false, true, true, false]);
  });

  it("Intel: both versions of XPU Manager, by the labels of engine and sensor", () => {
    const v1 = 'uuid="u",pci_bdf="0000:4d:00.0",dev_name="Intel Max 1550"';
    expect(
      valuesOf(
        [
          `xpum_engine_group_ratio{${v1},type="compute"} 0.5`,
          `xpum_engine_group_ratio{${v1},type="media"} 0.9`,
          `xpum_temperature_celsius{${v1},location="gpu"} 55`,
          `xpum_power_watts{${v1}} 200`,
        ].join("\n"),
      ),
    ).toEqual({ gr_engine_active_ratio: 0.5, gpu_temperature_celsius: 55, power_watts: 200 });
    expect(
      valuesOf(
        [
          'hw_gpu_utilization_ratio{pci_bdf="0000:01:00.0",hw_gpu_task="all"} 0.125',
          'hw_gpu_utilization_ratio{pci_bdf="0000:01:00.0",hw_gpu_task="compute-all"} 1.00014',
        ].join("\n"),
      ),
    ).toEqual({ gpu_utilization_ratio: 0.125, gr_engine_active_ratio: 1 });
  });
});
