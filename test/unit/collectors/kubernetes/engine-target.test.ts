import { isIPv6, SocketAddress } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { targetsOfEngine } from "../../../../collectors/kubernetes/engine-target.ts";
import type { AskedPage, ContainerPort, PagePod } from "../../../../collectors/kubernetes/pod-target.ts";
import { parseLabelSelector } from "../../../../collectors/kubernetes/api/label-selector.ts";
import { SERVING_SELECTORS } from "../../../../collectors/kubernetes/selectors.ts";
import { rounds } from "../../../support/rounds.ts";

const ASKED: AskedPage = { namespaces: ["chat"], scheme: "http", port: 8000, path: "/metrics" };

function podOf(
  containers: readonly (readonly ContainerPort[])[],
  given: { readonly annotations?: Readonly<Record<string, string>>; readonly namespace?: string } = {},
): PagePod {
  const { annotations = {}, namespace = "chat" } = given;
  return {
    metadata: { name: "qwen-0", namespace, uid: "uid-1", resourceVersion: "1", annotations },
    spec: { nodeName: "gpu-a", containers: containers.map((ports) => ({ ports })) },
    status: { phase: "Running", podIP: "10.0.0.7" },
  };
}

function urlsOf(pod: PagePod, asked: Partial<AskedPage> = {}): readonly string[] | string | undefined {
  const targets = targetsOfEngine(pod, { ...ASKED, ...asked });
  if (targets === undefined) return undefined;
  return "reason" in targets ? targets.reason : targets.map(({ url }) => url.replace("http://10.0.0.7", ""));
}

const port = (containerPort: number, name?: string): ContainerPort =>
  name === undefined ? { containerPort } : { containerPort, name };

describe("the targets of an engine's pod", () => {
  it("have the pod's namespace, name, UID and node", () => {
    expect(targetsOfEngine(podOf([[port(8000)]]), ASKED)).toEqual([
      {
        url: "http://10.0.0.7:8000/metrics",
        labels: { namespace: "chat", pod: "qwen-0" },
        pod: { name: "qwen-0", nodeName: "gpu-a", uid: "uid-1" },
      },
    ]);
  });

  it.each<readonly [what: string, containers: readonly (readonly ContainerPort[])[], urls: readonly string[]]>([
    [
      "the port for metrics, not the one for requests",
      [[port(8000, "http"), port(8200, "metrics")]],
      [":8200/metrics"],
    ],
    [
      "the ports for metrics of two engines",
      [[port(8001, "metrics-a")], [port(8002, "http-metrics-b")]],
      [":8001/metrics", ":8002/metrics"],
    ],
    [
      "a port for requests of each container, the usual one first",
      [[port(9000, "grpc"), port(8000)], [port(8100, "http-2"), port(8101, "zmq")], [port(15_090, "http-envoy-prom")]],
      [":8000/metrics", ":8100/metrics"],
    ],
    [
      "the user's port of Knative's pod, not its proxy's",
      [[port(8080, "user-port")], [port(9090, "http-autometric")]],
      [":8080/metrics"],
    ],
    ["the first port, if no name is known", [[port(7000, "zmq"), port(7001)]], [":7000/metrics"]],
    ["the usual port, if the pod has none", [[]], [":8000/metrics"]],
    ["one target for a port that two containers name", [[port(8000)], [port(8000)]], [":8000/metrics"]],
    [
      "the usual port beside the port for metrics of a sidecar",
      [[port(8000, "http")], [port(2020, "metrics")]],
      [":8000/metrics", ":2020/metrics"],
    ],
  ])("are %s", (_, containers, urls) => {
    expect(urlsOf(podOf(containers))).toEqual(urls);
  });

  it.each([
    ["vllm", "log-agent"],
    ["my-sglang-server", "kube-rbac-proxy"],
    ["kserve-container", "queue-proxy"],
  ])("are those of the engine %s, and not those of its sidecar %s", (engine, sidecar) => {
    const pod = podOf([]);
    const containers = [
      { name: sidecar, ports: [port(9102, "metrics")] },
      { name: engine, ports: [port(7000, "zmq"), port(8200, "http")] },
    ];
    expect(urlsOf({ ...pod, spec: { ...pod.spec, containers } })).toEqual([":8200/metrics"]);
  });

  it.each([
    ["15020", "/stats/prometheus"],
    ["4191", "/metrics"],
  ])("are not the port %s that a mesh has written into the annotations", (own, path) => {
    const annotations = { "prometheus.io/scrape": "true", "prometheus.io/port": own, "prometheus.io/path": path };
    expect(urlsOf(podOf([[port(8000, "http")]], { annotations }))).toEqual([":8000/metrics"]);
  });

  it("are the port whose name the annotation has", () => {
    const annotations = { "prometheus.io/port": "web" };
    expect(urlsOf(podOf([[port(8000, "http"), port(8300, "web")]], { annotations }))).toEqual([":8300/metrics"]);
    expect(urlsOf(podOf([[port(8000, "http")]], { annotations }))).toBe("port");
  });

  it.each([{ "leaderworkerset.sigs.k8s.io/worker-index": "1" }, { "ray.io/node-type": "worker" }])(
    "are none for a follower without a port, and the port of a follower with one: %s",
    (labels) => {
      const follower = (ports: readonly ContainerPort[]) => {
        const pod = podOf([ports]);
        return urlsOf({ ...pod, metadata: { ...pod.metadata, labels } });
      };
      expect(follower([])).toBeUndefined();
      expect(follower([port(8000, "metrics")])).toEqual([":8000/metrics"]);
      const leader = podOf([[]]);
      const labeled = { ...leader.metadata, labels: { "leaderworkerset.sigs.k8s.io/worker-index": "0" } };
      expect(urlsOf({ ...leader, metadata: labeled })).toEqual([":8000/metrics"]);
    },
  );

  it("are at most 16 for one pod", () => {
    const ports = Array.from({ length: 50 }, (_, index) => port(9000 + index, `metrics-${index}`));
    expect(urlsOf(podOf([ports]))).toHaveLength(16);
  });

  it("follow the annotations of Prometheus' examples", () => {
    const containers = [[port(8000, "metrics")]];
    const annotated = (annotations: Readonly<Record<string, string>>) => urlsOf(podOf(containers, { annotations }));
    expect(annotated({ "prometheus.io/port": "9000" })).toEqual([":9000/metrics"]);
    expect(annotated({ "prometheus.io/path": "/stats" })).toEqual([":8000/stats"]);
    expect(annotated({ "prometheus.io/scrape": "true" })).toEqual([":8000/metrics"]);
    expect(annotated({ "prometheus.io/scrape": "false" })).toBeUndefined();
    expect(annotated({ "prometheus.io/port": "80@evil" })).toBe("port");
    expect(annotated({ "prometheus.io/path": "//evil/" })).toBe("path");
  });

  it("have the selector's port name before the annotations, and none without such a port", () => {
    const annotations = { "prometheus.io/port": "19001", "prometheus.io/scrape": "true" };
    const envoy = (ports: readonly ContainerPort[]) =>
      urlsOf(podOf([ports], { annotations }), { portName: "aigw-metrics" });
    expect(envoy([port(19_001, "metrics"), port(1064, "aigw-metrics")])).toEqual([":1064/metrics"]);
    expect(envoy([port(19_001, "metrics")])).toBeUndefined();
  });

  it("are refused in other namespaces", () => {
    expect(urlsOf(podOf([[port(8000)]], { namespace: "tenant" }))).toBe("namespace");
    expect(urlsOf(podOf([[port(8000)]], { namespace: "tenant" }), { namespaces: ["*"] })).toEqual([":8000/metrics"]);
  });

  it("are at the pod's own address, or none, for any annotations, ports and addresses", () => {
    const odd = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "80",
        "0",
        "70000",
        "8000/x",
        "-1",
        "8000@h",
        "//h",
        "/a?b",
        "/a#b",
        "/\\h",
        "/metrics",
        "http://h/",
      ),
    );
    const address = fc.constantFrom("10.0.0.7", "fd00::7", "fe80::1%eth0", "10.0.0.7/x", "host", "");
    const ports = fc.array(
      fc.record({ name: fc.oneof(odd, fc.constantFrom("metrics", "http")), containerPort: fc.integer() }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(
        fc.record({ "prometheus.io/port": odd, "prometheus.io/path": odd }, { requiredKeys: [] }),
        address,
        fc.array(ports, { maxLength: 3 }),
        (annotations, podIP, containers) => {
          const pod = { ...podOf(containers, { annotations }), status: { phase: "Running", podIP } };
          const targets = targetsOfEngine(pod, ASKED);
          if (targets === undefined || "reason" in targets) return;
          for (const { url } of targets) {
            const { protocol, hostname, username, password, search, hash } = new URL(url);
            const host = hostname.replace(/^\[|\]$/g, "");
            const family = isIPv6(host) ? "ipv6" : "ipv4";
            expect(new SocketAddress({ address: host, family }).address).toBe(podIP);
            expect([protocol, username, password, search, hash]).toEqual(["http:", "", "", "", ""]);
          }
        },
      ),
      { numRuns: rounds(20_000) },
    );
  });
});

describe("the selectors of engines and gateways", () => {
  const selectedBy = (labels: Readonly<Record<string, string>>): readonly number[] =>
    SERVING_SELECTORS.filter((selector) => parseLabelSelector(selector.labels)(labels)).map((each) => each.port);

  it.each<readonly [what: string, labels: Readonly<Record<string, string>>, port: number]>([
    ["vLLM's production stack", { "helm-release-name": "vllm", model: "llama" }, 8000],
    ["llm-d's model service", { "llm-d.ai/inferenceServing": "true", "llm-d.ai/role": "decode" }, 8000],
    ["KServe's InferenceService", { "serving.kserve.io/inferenceservice": "iris" }, 8080],
    [
      "KServe's LLMInferenceService",
      { "app.kubernetes.io/part-of": "llminferenceservice", "kserve.io/component": "workload" },
      8000,
    ],
    [
      "a frontend of Dynamo",
      { "nvidia.com/metrics-enabled": "true", "nvidia.com/dynamo-component-type": "frontend" },
      8000,
    ],
    [
      "a worker of Dynamo",
      { "nvidia.com/metrics-enabled": "true", "nvidia.com/dynamo-component-type": "worker" },
      9090,
    ],
    ["Triton's chart", { app: "triton-inference-server" }, 8002],
    ["SGLang by its name", { "app.kubernetes.io/name": "sglang" }, 8000],
    ["LiteLLM's chart", { "app.kubernetes.io/name": "litellm" }, 4000],
    [
      "a proxy of Envoy AI Gateway",
      { "app.kubernetes.io/managed-by": "envoy-gateway", "app.kubernetes.io/component": "proxy" },
      1064,
    ],
  ])("have %s", (_, labels, expected) => {
    expect(selectedBy(labels)).toEqual([expected]);
  });

  it("have no scheduler of an LLMInferenceService and no router of vLLM's production stack", () => {
    expect(selectedBy({ "app.kubernetes.io/part-of": "llminferenceservice" })).toEqual([]);
    expect(selectedBy({ "helm-release-name": "vllm" })).toEqual([]);
  });
});
