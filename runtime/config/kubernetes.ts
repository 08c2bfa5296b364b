import { z } from "zod";
import { list, oneOf, text, type ConfigSources } from "./words.ts";

/** Common labels and annotations for who pays and for experiments. */
const USUAL_LABELS = ["team", "cost-center", "project", "environment", "mlflow.run-id", "wandb.run-id"];

/** The configuration keys that give resource names a meaning. */
export const resourceKeys = {
  gpuResources: z
    .record(z.string(), oneOf("nvidia", "amd", "intel", "habana", "aws"), { error: "resource: vendor" })
    .default({})
    .describe("Further resources that are whole GPUs, with their vendor."),
  hami: z
    .strictObject({
      resourceName: text("a resource").optional().describe("Of GPUs; nvidia.com/gpu in HAMi's chart."),
      resourceMem: text("a resource").optional().describe("Of memory in MiB; nvidia.com/gpumem."),
      resourceMemPercentage: text("a resource")
        .optional()
        .describe("Of memory in percent; nvidia.com/gpumem-percentage."),
      resourceCores: text("a resource").optional().describe("Of cores in percent; nvidia.com/gpucores."),
    })
    .prefault({})
    .describe(
      "The names of HAMi's resources, as the values of its chart have them, where they are not the usual ones.",
    ),
};

/** Returns the schema of the watched clusters, and of the object fields to keep. */
export const kubernetes = (sources: ConfigSources) =>
  z.strictObject({
    clusters: list(
      z.strictObject({
        name: text("a cluster's name").optional().describe("On every fact of the cluster; `cluster` where absent."),
        kubeconfig: text("a file")
          .optional()
          .describe("Where absent: KUBECONFIG, ~/.kube/config, or the service account of the pod that this runs in."),
        context: text("a context's name")
          .optional()
          .describe("A context of the kubeconfig; its current one if absent."),
      }),
    )
      .default([])
      .describe("Clusters to watch, each by one elected collector. `- {}` is the one that this runs in."),
    lease: z
      .strictObject({
        namespace: text("a namespace").default(sources.env["POD_NAMESPACE"] ?? "gpu-ledger"),
        name: text("a name").default("gpu-ledger-watcher"),
      })
      .prefault({})
      .describe("The Lease by which collectors elect one watcher, in each cluster."),
    labels: list(text("a label"))
      .default(USUAL_LABELS)
      .describe("Labels of pods and their owners to keep; one that ends in * keeps all that begin so."),
    annotations: list(text("an annotation")).default(USUAL_LABELS).describe("The same of annotations."),
    nodeLabels: list(text("a label"))
      .default([])
      .describe("Labels of nodes to keep beside those of topology, rack and switch."),
    typeLabels: list(text("a label or annotation"))
      .default(["gpu-ledger/workload-type"])
      .describe("Where people say themselves: training, inference, notebook, other."),
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
      .describe("Further kinds that own pods. The collector must be allowed to get them."),
    reservationNamespaces: list(text("a namespace"))
      .default(["kai-resource-reservation", "runai-reservation"])
      .describe("Where KAI and Run:ai keep the pods that reserve a GPU for a group."),
  });
