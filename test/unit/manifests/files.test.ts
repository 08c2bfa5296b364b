import type { V1Deployment, V1PodSpec, V1Service, V1StatefulSet } from "@kubernetes/client-node";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { readShard } from "../../../cli/shard.ts";
import { parseConfig } from "../../../runtime/config/load.ts";
import type { Config } from "../../../runtime/config/schema.ts";

const FOLDER = "deploy/kubernetes";
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const committed = readdirSync(FOLDER).toSorted();

interface NamedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
const objects = committed.flatMap((name) =>
  parseAllDocuments(readFileSync(join(FOLDER, name), "utf8")).map((document) => document.toJS() as NamedObject),
);
const find = <Value>(kind: string, name: string): Value => {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found as Value;
};
const collector = find<V1StatefulSet>("StatefulSet", "gpu-ledger-collector");
const processor = find<V1Deployment>("Deployment", "gpu-ledger-processor");
const podOf = ({ spec }: V1StatefulSet | V1Deployment): V1PodSpec => spec!.template.spec!;
const server = find<V1Deployment>("Deployment", "gpu-ledger-server");
const pods = [podOf(collector), podOf(processor), podOf(server)];

/** The configuration that a pod reads, from the ConfigMap that it mounts. */
function configOf(pod: V1PodSpec, edit = (text: string) => text): Config {
  const map = pod.volumes!.find(({ name }) => name === "config")!.configMap!.name!;
  const text = find<{ readonly data: Record<string, string> }>("ConfigMap", map).data["gpu-ledger.yaml"]!;
  const env = {
    POD_NAMESPACE: "gpu-ledger",
    HOSTNAME: "gpu-ledger-collector-0",
    CLICKHOUSE_PASSWORD: "secret",
    METRICS_TOKEN: "m",
  };
  const known = new Set(pod.containers[0]!.env!.map(({ name }) => name));
  const given = Object.fromEntries(Object.entries(env).filter(([name]) => known.has(name)));
  return parseConfig(edit(text), { source: map, folder: ".", env: given });
}

describe("deploy/kubernetes", () => {
  it("names each object once", () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toBe("Namespace /gpu-ledger");
    const global = objects.filter(({ metadata }) => metadata.namespace !== "gpu-ledger");
    expect(global.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ["Namespace", undefined],
      ["ClusterRole", undefined],
      ["ClusterRoleBinding", undefined],
    ]);
  });

  it("gives collectors a valid configuration: this cluster, its exporters, the lease of the Role, no store", () => {
    const config = configOf(pods[0]!);
    expect(config.kubernetes.clusters).toEqual([{}]);
    expect(config.kubernetes.lease).toEqual({ namespace: "gpu-ledger", name: "gpu-ledger-watcher" });
    expect(config.collector).toMatchObject({ name: "gpu-ledger-collector-0", jobs: [{ kubernetes: {} }] });
    expect(config.bus.kind).toBe("kafka");
    expect(config.store.clickhouse).toBeUndefined();
    expect(pods[0]!.containers[0]!.volumeMounts!.find(({ name }) => name === "data")?.mountPath).toBe(config.data);
    const claimed = collector.spec!.volumeClaimTemplates![0]!.spec!.resources!.requests!["storage"];
    expect(claimed).toBe("8Gi");
    // Beside the samples' spool there is one of 512 MiB for each of the three topics of facts.
    expect(8 * 2 ** 30).toBeGreaterThan(2 * (config.bus.spool + 3 * 512 * 2 ** 20));
  });

  it("gives processors a valid configuration: the same bus, the store, its password from the Secret", () => {
    const config = configOf(pods[1]!);
    expect(config.bus).toEqual(configOf(pods[0]!).bus);
    expect(config.cluster).toBe(configOf(pods[0]!).cluster);
    expect(config.store).toMatchObject({ kind: "clickhouse", clickhouse: { password: "secret" } });
    expect(config.kubernetes.clusters).toEqual([]);
    expect(pods[1]!).toMatchObject({ automountServiceAccountToken: false });
    expect(pods[1]!.serviceAccountName).toBeUndefined();
  });

  it("gives servers the processors' configuration, so that they read by the same prices, owners and policies", () => {
    expect(configOf(pods[2]!)).toEqual(configOf(pods[1]!));
    expect(pods[2]!).toMatchObject({ automountServiceAccountToken: false });
    const service = find<V1Service>("Service", "gpu-ledger-server");
    expect(service.spec!.selector).toEqual(server.spec!.selector.matchLabels);
    expect(service.spec!.ports).toEqual([{ name: "http", port: 80, targetPort: "http" }]);
    // Deliveries are made in the system's folder for temporary files, and nothing else can be written.
    const mounts = pods[2]!.containers[0]!.volumeMounts!.filter(({ readOnly }) => readOnly !== true);
    expect(mounts).toEqual([{ name: "tmp", mountPath: "/tmp" }]);
  });

  it("has a commented line for a metrics token, which works if its Secret exists", () => {
    for (const pod of pods) {
      expect(configOf(pod).server.metricsToken).toBeUndefined();
      expect(configOf(pod, (text) => text.replace("# metricsToken", "metricsToken")).server.metricsToken).toBe("m");
      const { valueFrom } = pod.containers[0]!.env!.find(({ name }) => name === "METRICS_TOKEN")!;
      expect(valueFrom!.secretKeyRef).toEqual({ name: "gpu-ledger-metrics", key: "token", optional: true });
    }
  });

  it("gives each collector of the StatefulSet a shard of its own, and together all targets", () => {
    const { args } = pods[0]!.containers[0]!;
    const shards = args![args!.indexOf("--shards") + 1]!;
    const { replicas } = collector.spec!;
    const given = Array.from({ length: replicas! }, (_, ordinal) =>
      readShard({ shards }, { HOSTNAME: `${collector.metadata!.name}-${ordinal}` }),
    );
    expect(given).toEqual(Array.from({ length: replicas! }, (_, index) => ({ index, count: replicas })));
  });

  it("gives pods more time to end than a scrape and the draining of queues may take", () => {
    const { timeout } = configOf(pods[0]!).collector;
    expect(podOf(collector).terminationGracePeriodSeconds! * 1000).toBeGreaterThan(timeout + 10_000);
  });

  it("has probes for health and readiness at the program's paths", () => {
    for (const pod of pods) {
      const { livenessProbe, readinessProbe, ports } = pod.containers[0]!;
      expect(livenessProbe!.httpGet).toEqual({ path: "/healthz", port: "http" });
      expect(readinessProbe!.httpGet).toEqual({ path: "/readyz", port: "http" });
      expect(configOf(pod).server.listen).toBe(`0.0.0.0:${ports!.find(({ name }) => name === "http")!.containerPort}`);
    }
  });

  it("runs every container as nobody, with no privilege and nothing to write but its volume", () => {
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(securityContext!.runAsUser).toBeGreaterThan(0);
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.image).toBe(`ghcr.io/gpu-ledger/gpu-ledger:${version}`);
        expect(Object.keys(container.resources!.requests!)).toEqual(["cpu", "memory"]);
      }
    }
  });

  it("selects by existing labels of its pods, and mounts existing volumes", () => {
    const service = find<V1Service>("Service", collector.spec!.serviceName!);
    expect(service.spec).toMatchObject({ clusterIP: "None", selector: collector.spec!.selector.matchLabels });
    for (const owner of [collector, processor, server]) {
      const { selector, template } = owner.spec!;
      expect(template.metadata!.labels).toMatchObject(selector.matchLabels!);
      const budget = find<{ spec: unknown }>("PodDisruptionBudget", owner.metadata!.name!);
      expect(budget.spec).toEqual({ maxUnavailable: 1, selector });
      const claims = "volumeClaimTemplates" in owner.spec! ? owner.spec.volumeClaimTemplates : [];
      const mounted = template.spec!.containers[0]!.volumeMounts!.map(({ name }) => name);
      const volumes = [...template.spec!.volumes!, ...claims!.map(({ metadata }) => metadata!)];
      expect(new Set(mounted)).toEqual(new Set(volumes.map(({ name }) => name)));
    }
  });
});
