import { describe, expect, it } from "vitest";
import { resourceNamesOf } from "../../../../../collectors/kubernetes/projection/gpu-resource.ts";
import { READ_LABELS, READ_NODE_LABELS } from "../../../../../collectors/kubernetes/projection/read-names.ts";
import { createLabelReader } from "../../../../../collectors/prometheus/kube-state/label-name.ts";
import {
  createResourceReader,
  gpuResourceRegexp,
} from "../../../../../collectors/prometheus/kube-state/resource-name.ts";
import { createRowReader, labelOf } from "../../../../../collectors/prometheus/kube-state/row.ts";

const own = resourceNamesOf({ "example.com/big-gpu": "nvidia" });
const resources = createResourceReader(own);

describe("names of resources", () => {
  it.each([
    ["nvidia_com_gpu", "nvidia.com/gpu"],
    ["nvidia_com_gpu_shared", "nvidia.com/gpu.shared"],
    ["nvidia_com_mig_1g_10gb", "nvidia.com/mig-1g.10gb"],
    ["nvidia_com_mig_1g_5gb_me", "nvidia.com/mig-1g.5gb.me"],
    ["nvidia_com_mig_1c_3g_20gb", "nvidia.com/mig-1c.3g.20gb"],
    ["nvidia_com_mig_1g_10gb_shared", "nvidia.com/mig-1g.10gb.shared"],
    ["nvidia_com_gpumem", "nvidia.com/gpumem"],
    ["nvidia_com_gpumem_percentage", "nvidia.com/gpumem-percentage"],
    ["amd_com_gpu", "amd.com/gpu"],
    ["amd_com_cpx_nps1", "amd.com/cpx_nps1"],
    ["gpu_intel_com_i915", "gpu.intel.com/i915"],
    ["volcano_sh_vgpu_number", "volcano.sh/vgpu-number"],
    ["hami_io_gpu", "hami.io/gpu"],
    ["example_com_big_gpu", "example.com/big-gpu"],
  ])("restore %s", (written, name) => {
    expect(resources.read(written)).toBe(name);
    expect(resources.gpu(written)).toBeDefined();
    expect(written).toMatch(new RegExp(`^(?:${gpuResourceRegexp(own)})$`));
  });

  it("leave out other resources", () => {
    for (const written of ["ephemeral_storage", "pods", "rdma_hca", "nvidia_com_mig_x"])
      expect(resources.read(written)).toBeUndefined();
    expect(resources.read("cpu")).toBe("cpu");
    expect(resources.gpu("cpu")).toBeUndefined();
    expect("cpu").not.toMatch(new RegExp(`^(?:${gpuResourceRegexp()})$`));
  });
});

describe("names of labels", () => {
  const reader = createLabelReader(
    ["cost-center", "example.com/costCenter", ...READ_LABELS, ...READ_NODE_LABELS],
    resources,
  );
  const read = (labels: Readonly<Record<string, string>>) =>
    reader.labels({ metric: "kube_pod_labels", labels: new Map(Object.entries(labels)), runs: [] });

  it("are restored if they are known, in the notation of each version", () => {
    expect(
      read({
        label_app_kubernetes_io_name: "vllm",
        label_cost_center: "7",
        label_example_com_cost_center: "8",
        label_eks_amazonaws_com_capacityType: "SPOT",
        namespace: "ml",
      }),
    ).toEqual({
      "app.kubernetes.io/name": "vllm",
      "cost-center": "7",
      "example.com/costCenter": "8",
      "eks.amazonaws.com/capacityType": "SPOT",
    });
    expect(read({ label_eks_amazonaws_com_capacity_type: "SPOT" })).toEqual({
      "eks.amazonaws.com/capacityType": "SPOT",
    });
  });

  it("are kept without an underscore, and otherwise left out if they are unknown", () => {
    expect(read({ label_team: "nlp", label_some_label: "x" })).toEqual({ team: "nlp" });
  });

  it("follow the patterns of MIG, Intel and GPU groups", () => {
    expect(
      read({
        label_nvidia_com_mig_1g_10gb_count: "7",
        label_gpu_intel_com_device_id_0300_56c0_count: "2",
        label_runai_gpu_group: "a",
        label_runai_gpu_group_b_c: "b-c",
      }),
    ).toEqual({
      "nvidia.com/mig-1g.10gb.count": "7",
      "gpu.intel.com/device-id.0300-56c0.count": "2",
      "runai-gpu-group": "a",
      "runai-gpu-group/b-c": "b-c",
    });
  });

  it("lose the number that separates two labels with the same notation", () => {
    expect(read({ label_cost_center_conflict1: "7" })).toEqual({ "cost-center": "7" });
  });
});

describe("rows of series", () => {
  const reader = createRowReader();
  const read = (name: string, labels: Readonly<Record<string, string>>) =>
    reader.read({ name, labels: new Map(Object.entries(labels)), runs: [] });

  it("have the labels of kube-state-metrics, not those of its own pod", () => {
    const target = { namespace: "monitoring", pod: "ksm-1", node: "control-1" };
    const renamed = { exported_namespace: "ml", exported_pod: "train-0" };
    const bound = read("kube_pod_info", { ...target, ...renamed, exported_node: "gpu-1" });
    expect(["namespace", "pod", "node"].map((name) => labelOf(bound, name))).toEqual(["ml", "train-0", "gpu-1"]);
    const pending = read("kube_pod_info", { ...target, ...renamed });
    expect(labelOf(pending, "node")).toBe("");
    const honored = read("kube_pod_info", { namespace: "ml", pod: "train-0", node: "gpu-2" });
    expect(labelOf(honored, "node")).toBe("gpu-2");
  });

  it("have the resource of a metric of version 1 as a label", () => {
    const cores = read("kube_pod_container_resource_requests_cpu_cores", { pod: "a" });
    expect([cores.metric, labelOf(cores, "resource")]).toEqual(["kube_pod_container_resource_requests", "cpu"]);
    const cards = read("kube_node_status_capacity_nvidia_gpu_cards", { node: "a" });
    expect([cards.metric, labelOf(cards, "resource")]).toEqual(["kube_node_status_capacity", "nvidia_com_gpu"]);
    expect(labelOf(read("kube_pod_owner", { owner_kind: "<none>" }), "owner_kind")).toBe("");
  });
});
