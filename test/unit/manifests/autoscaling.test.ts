import type { V1Deployment, V1Service, V2HorizontalPodAutoscaler } from "@kubernetes/client-node";
import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { GPU_METRICS_PATH } from "../../../services/gpu-metrics.ts";
import { ADAPTER_VALUES, SCALED_OBJECT, SERVICE_MONITOR } from "../../support/autoscaling-shapes.ts";
import { misfits } from "../../support/object-shape.ts";

const read = (name: string): string => readFileSync(`deploy/autoscaling/${name}`, "utf8");
/** The metric by which the chart scales processors: test/full/chart.test.ts. */
const LAG = "gpu_ledger_lag_messages";
const hpa = parse(read("hpa.yaml")) as V2HorizontalPodAutoscaler;
const adapter = ADAPTER_VALUES.parse(parse(read("prometheus-adapter.yaml")));
const METRICS_PAGE = readFileSync("docs/metrics.md", "utf8");
const [service, monitor] = parseAllDocuments(read("servicemonitor.yaml")).map(
  (document) => document.toJS() as unknown,
) as [V1Service, unknown];

describe("the examples of deploy/autoscaling", () => {
  it("have an HPA that fits Kubernetes' model and uses the metric of the adapter", () => {
    expect(misfits(hpa, "V2HorizontalPodAutoscaler")).toEqual([]);
    expect(hpa).toMatchObject({ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" });
    const { scaleTargetRef, minReplicas, maxReplicas, metrics } = hpa.spec!;
    expect([minReplicas! >= 1, maxReplicas > minReplicas!, metrics!.length]).toEqual([true, true, 1]);
    const { metric, target } = metrics![0]!.external!;
    expect(adapter.rules.external.map((rule) => rule.name.as)).toEqual([metric.name, LAG]);
    expect(metric.selector!.matchLabels).toEqual({ workload: scaleTargetRef.name });
    expect(target).toEqual({ type: "Value", value: "700m" });
  });

  it("have an adapter with the messages that wait on the bus, a metric of the processors", () => {
    const rule = adapter.rules.external.find(({ name }) => name.as === LAG)!;
    expect(rule.metricsQuery).toContain(`(${LAG}{`);
    expect(METRICS_PAGE).toContain(`- \`${LAG}\` `);
  });

  it("have a valid ScaledObject of KEDA, with the behavior of an HPA and consistent names", () => {
    const { metadata, spec } = SCALED_OBJECT.parse(parse(read("keda-scaledobject.yaml")));
    expect(misfits(spec.advanced!.horizontalPodAutoscalerConfig.behavior, "V2HorizontalPodAutoscalerBehavior")).toEqual(
      [],
    );
    const { query } = spec.triggers[0]!.metadata;
    expect(query).toContain(`namespace="${metadata.namespace}",workload="${spec.scaleTargetRef.name}"`);
  });

  it("have a Service of the processors and a ServiceMonitor that scrapes it, with the holders' labels", () => {
    expect(misfits(service, "V1Service")).toEqual([]);
    const { spec } = SERVICE_MONITOR.parse(monitor);
    expect(service.metadata!.labels).toMatchObject(spec.selector.matchLabels);
    const pod = (parse(readFileSync("deploy/kubernetes/5-processor.yaml", "utf8").split("---\n")[1]!) as V1Deployment)
      .spec!.template;
    expect(pod.metadata!.labels).toMatchObject(service.spec!.selector!);
    const [port] = service.spec!.ports!;
    expect(pod.spec!.containers[0]!.ports).toEqual([{ name: port!.targetPort, containerPort: port!.port }]);
    expect(spec.endpoints).toMatchObject([{ port: port!.name, path: GPU_METRICS_PATH, honorLabels: true }]);
  });

  it("have a scrape configuration for the same page of the same Service", () => {
    const { scrape_configs: jobs } = parse(read("scrape-config.yaml")) as { scrape_configs: readonly object[] };
    const { name, namespace } = service.metadata!;
    expect(jobs).toMatchObject([
      {
        metrics_path: GPU_METRICS_PATH,
        honor_labels: true,
        dns_sd_configs: [{ names: [`${name}.${namespace}.svc`], port: service.spec!.ports![0]!.port }],
      },
    ]);
  });
});

describe("the check of shapes", () => {
  it("finds fields that a model lacks, and values of another type", () => {
    const wrong = { spec: { maxReplicas: "8", metrics: [{ type: "External", extern: {} }], behavior: [] } };
    expect(misfits(wrong, "V2HorizontalPodAutoscaler")).toEqual([
      "V2HorizontalPodAutoscaler.spec.maxReplicas is no number",
      "V2HorizontalPodAutoscaler.spec.metrics[0] has no extern",
      "V2HorizontalPodAutoscaler.spec.behavior is no object",
    ]);
  });
});
