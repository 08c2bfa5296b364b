import { describe, expect, it } from "vitest";
import { inspectPage, type Inspection } from "../../../../collectors/exporters/inspect.ts";
import { nodeOf } from "../../../../collectors/exporters/targets/target.ts";
import { captures } from "../../../support/captures.ts";

const pages = captures("dcgm");

/** The content of each capture, by its source: the exporter, its devices, and the expected drops with their reasons. */
const EXPECTED: Readonly<Record<string, { exporter?: string; devices: number; drops?: Record<string, number> }>> = {
  "48x_pr736_lowercase_hostname_mixed_mig.prom": { devices: 2 },
  "a100_dcgm21_mig_and_gpu_nvidia_docs.prom": { devices: 2 },
  "amd_dme_metrics_mini.prom": { exporter: "amd-device-metrics-exporter", devices: 1, drops: { "no-device": 1 } },
  "amd_mi300x_gfx_activity_three_states.prom": { exporter: "amd-device-metrics-exporter", devices: 3 },
  "amd_mi325x_vf_kfd_process_id.prom": { exporter: "amd-device-metrics-exporter", devices: 1 },
  "h100_issue490_pod_and_idle_mixed.prom": { devices: 3 },
  "l40s_dcgm4x_viettel_idle_first_two_lines.prom": { devices: 2 },
  "l4_dcgm4x_kops_idle.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
  "legacy_dcgm_names_issue188.prom": { devices: 1 },
  "malformed_string_value_a800.prom": { exporter: "", devices: 0, drops: { sentinel: 3 } },
  "mig_a100_40_dcgm3x_4_active.prom": { devices: 4 },
  "mig_a100_40_dcgm3x_active_1g5gb.prom": { devices: 1 },
  "mig_a100_40_dcgm3x_idle_1g5gb.prom": { devices: 1 },
  // Two scrapes in one file: every series of the second is a duplicate.
  "mig_a100_40_dcgm3x_mig_disabled_two_scrapes.prom": { devices: 1, drops: { "duplicate-series": 23 } },
  "mig_a100_40_dcgm3x_mig_enabled_no_instances.prom": { devices: 1 },
  "mig_a100_80_issue369_hpc_job.prom": { devices: 4 },
  "mig_a100_80_issue_gpuop687_wrong_profile_7g79gb.prom": { devices: 1 },
  "mig_a100_issue272_old_namespace.prom": { devices: 3 },
  "rtx4000ada_dcgm4x_lke_pod_empty_pod_uid.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
  "t4_4x_dcgm3x_dstack_test.prom": { devices: 4, drops: { "unsupported-zero": 4 } },
  "t4_dcgm4x_ericsson_busy_nohelp.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
  // The log prints each of its sample lines twice.
  "t4_dcgm4x_gardener_idle_fragments.prom": { devices: 1, drops: { "unsupported-zero": 1, "duplicate-series": 3 } },
  "t4_dcgm4x_rafay_idle_fragments.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
  "v100_dcgm20_issue_gmt138_no_model_hostname.prom": { devices: 1 },
  "vgpu_grid_a100_10c_dcgm4x_vks136.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
  "vgpu_vks135.prom": { devices: 1, drops: { "unsupported-zero": 1 } },
};

function inspect(name: string): Inspection {
  const inspection = inspectPage(pages.get(name)!);
  if ("reason" in inspection) throw new Error(`${name}: ${inspection.detail}`);
  return inspection;
}

describe.runIf(pages.size > 0)("genuine captures", () => {
  it("are all listed here by name", () => {
    expect([...pages.keys()].sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(Object.entries(EXPECTED))("%s is read without an unexplained drop", (name, expected) => {
    const { exporter, devices, drops } = inspect(name);
    expect(exporter).toBe(expected.exporter ?? "dcgm-exporter");
    expect(devices).toHaveLength(expected.devices);
    const counts: Record<string, number> = {};
    for (const { reason } of drops) counts[reason] = (counts[reason] ?? 0) + 1;
    expect(counts).toEqual(expected.drops ?? {});
  });

  it("have a canonical name for every DCGM metric; the unknown metrics are listed here", () => {
    const unknown = new Set(
      Object.keys(EXPECTED).flatMap((name) => inspect(name).devices.flatMap((device) => Object.keys(device.unknown))),
    );
    // AMD's page has both kinds of power. The preferred one has the column.
    expect([...unknown].sort()).toEqual(["gpu_average_package_power"]);
  });

  it("have SI units: an idle L4 of 24 GB at its base clock", () => {
    const [l4] = inspect("l4_dcgm4x_kops_idle.prom").devices;
    expect(l4!.device).toMatchObject({ model: "NVIDIA L4", gpu: "0" });
    expect(l4!.values["fb_free_bytes"]! + l4!.values["fb_used_bytes"]! + l4!.values["fb_reserved_bytes"]!).toBeCloseTo(
      23034 * 2 ** 20,
      -7,
    );
    expect(l4!.values["sm_clock_hertz"]).toBeGreaterThan(1e8);
    expect(l4!.values).not.toHaveProperty("memory_temperature_celsius");
  });

  it("have a busy T4 with the larger of its two activities, because GR_ENGINE_ACTIVE is only 0.156 there", () => {
    const [t4] = inspect("t4_dcgm4x_ericsson_busy_nohelp.prom").devices;
    expect(t4!.values["gpu_utilization_ratio"]).toBe(0.91);
    expect(t4!.values["gr_engine_active_ratio"]).toBeCloseTo(0.156, 3);
  });

  it("mark the values of a whole GPU that MIG instances repeat", () => {
    const { devices } = inspect("mig_a100_40_dcgm3x_4_active.prom");
    expect(devices.map(({ device }) => [device.instance, device.repeatsGpu ?? false])).toEqual([
      ["5", false],
      ["7", true],
      ["8", true],
      ["9", true],
    ]);
  });

  it("do not use an exporter's own pod as a node", () => {
    const target = { url: "http://10.0.0.1:9400/metrics", labels: {} };
    const nodeIn = (name: string) =>
      nodeOf(
        target,
        inspect(name).devices.map(({ device }) => device),
      );
    expect(nodeIn("48x_pr736_lowercase_hostname_mixed_mig.prom")).toBe("10.0.0.1:9400");
    expect(nodeIn("mig_a100_40_dcgm3x_4_active.prom")).toBe("10.0.0.1:9400");
    expect(nodeIn("h100_issue490_pod_and_idle_mixed.prom")).toBe("computeinstance-e00c1p6dpy98xytphp");
  });

  it("have AMD's partitions as devices, and a whole GPU without partitions", () => {
    const { devices } = inspect("amd_mi300x_gfx_activity_three_states.prom");
    // The capture has lines of two hosts, one host after the other.
    expect(devices.map(({ device }) => [device.hostname, device.gpu, device.partition])).toEqual([
      ["tw009", "47", "0"],
      ["tw038", "0", undefined],
      ["tw038", "2", undefined],
    ]);
  });
});
