import { z } from "zod";
import { list, oneOf, text, type ConfigSources } from "./words.ts";

/** Common labels and annotations for who pays. */
const USUAL_LABELS = ["team", "cost-center", "project", "environment"];

/** The configuration keys that give resource names a meaning. */
export const resourceKeys = {
  gpuResources: z
    .record(z.string(), oneOf("nvidia", "amd", "intel", "habana", "aws"), { error: "resource: vendor" })
    .default({})
    .describe("Further resources that are whole GPUs, with their vendor."),
  hami: z
    .strictObject({
      resourceName: text("a resource")
        .optional()
        .describe("The resource of GPUs. Default: nvidia.com/gpu, as in HAMi's chart."),
      resourceMem: text("a resource").optional().describe("The resource of memory in MiB. Default: nvidia.com/gpumem."),
      resourceMemPercentage: text("a resource")
        .optional()
        .describe("The resource of memory in percent. Default: nvidia.com/gpumem-percentage."),
      resourceCores: text("a resource")
        .optional()
        .describe("The resource of cores in percent. Default: nvidia.com/gpucores."),
    })
    .prefault({})
    .describe("The names of HAMi's resources from the values of its chart, if they differ from the defaults."),
};

/** Returns the schema of the watched clusters, and of the object fields to keep. */
export const kubernetes = (sources: ConfigSources) =>
  z.strictObject({
    clusters: list(
      z.strictObject({
        name: text("a cluster's name").optional().describe("The name on all facts of the cluster. Default: `cluster`."),
        kubeconfig: text("a file")
          .optional()
          .describe("Default: KUBECONFIG, ~/.kube/config, or the service account of the program's own pod."),
        context: text("a context's name")
          .optional()
          .describe("A context of the kubeconfig. Default: its current context."),
      }),
    )
      .default([])
      .describe("Clusters to watch, each by one elected collector. `- {}` is the program's own cluster."),
    lease: z
      .strictObject({
        namespace: text("a namespace").default(sources.env["POD_NAMESPACE"] ?? "gpu-ledger"),
        name: text("a name").default("gpu-ledger-watcher"),
      })
      .prefault({})
      .describe("The Lease with which collectors elect one watcher for each cluster."),
    labels: list(text("a label"))
      .default(USUAL_LABELS)
      .describe(
        "Labels of pods and their owners to keep, in addition to those that other keys name. A name with * at the end is a prefix.",
      ),
    annotations: list(text("an annotation"))
      .default(USUAL_LABELS)
      .describe("Annotations of pods, their owners and namespaces to keep, in addition to those that other keys name."),
    nodeLabels: list(text("a label"))
      .default([])
      .describe("Labels of nodes to keep in addition to the labels of topology, rack and switch."),
    typeLabels: list(text("a label or annotation"))
      .default(["gpu-ledger/workload-type"])
      .describe("Labels or annotations in which users set the type: training, inference, notebook, other."),
    ...resourceKeys,
    owners: list(
      z.strictObject({
        group: z.string({ error: "an API group" }).describe("Empty for the core group."),
        kind: text("a kind"),
        resource: text("a plural, as in kubectl get"),
        type: oneOf("training", "inference", "notebook", "other").optional(),
      }),
    )
      .default([])
      .describe("Further kinds that own pods. The collector needs permission to get them."),
    reservationNamespaces: list(text("a namespace"))
      .default(["kai-resource-reservation", "runai-reservation"])
      .describe("The namespaces in which KAI and Run:ai keep the pods that reserve a GPU for a group."),
  });
