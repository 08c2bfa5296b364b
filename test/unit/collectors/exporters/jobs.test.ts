import { describe, expect, it } from "vitest";
import { createJobs } from "../../../../collectors/exporters/jobs.ts";
import type { Target } from "../../../../collectors/exporters/targets/target.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const jobsOf = (text: string) => createJobs(parseConfig(text, { source: "test", folder: ".", env: {} }));

function targetsOf(text: string): readonly Target[] {
  const found: Target[] = [];
  for (const discovery of jobsOf(text)[0]!.discoveries) {
    discovery.start(
      (targets) => found.push(...targets),
      () => {},
    );
  }
  return found;
}

describe("the jobs of a configuration", () => {
  it("take the collector's interval and limits if they have none of their own", () => {
    const [plain, own] = jobsOf(
      "collector: { interval: 20s, timeout: 5s, bodyLimit: 1MB, jobs: [{ name: a }, { name: b, interval: 10s, timeout: 1s, gzip: true, redirects: host }] }",
    );
    expect(plain).toMatchObject({
      intervalMillis: 20_000,
      timeoutMillis: 5000,
      bodyLimitBytes: 1_000_000,
      gzip: false,
      redirects: "origin",
    });
    expect(own).toMatchObject({ intervalMillis: 10_000, timeoutMillis: 1000, gzip: true, redirects: "host" });
  });

  it("complete addresses, and a target's labels win over its job's", () => {
    expect(
      targetsOf(
        "collector: { jobs: [{ name: a, scheme: https, port: 9500, labels: { cluster: prod, node: x }, targets: [gpu-a, { address: 'gpu-b:1', labels: { node: b } }] }] }",
      ),
    ).toEqual([
      { url: "https://gpu-a:9500/metrics", labels: { cluster: "prod", node: "x" } },
      { url: "https://gpu-b:1/metrics", labels: { cluster: "prod", node: "b" } },
    ]);
  });

  it("read GPU exporters at port 9400, engines and gateways at port 8000 with the rules for tenants", () => {
    expect(targetsOf("collector: { jobs: [{ name: a, targets: [x] }] }")[0]!.url).toBe("http://x:9400/metrics");
    expect(targetsOf("collector: { jobs: [{ name: a, reads: serving, targets: [x] }] }")[0]!.url).toBe(
      "http://x:8000/metrics",
    );
    const [gpus, serving] = jobsOf(
      "collector: { tenantLimit: 5, jobs: [{ name: a }, { name: b, reads: serving, tenant: [customer], allowEmails: true }] }",
    );
    expect(gpus!.reads).toEqual({ kind: "gpus" });
    expect(serving!.reads).toEqual({
      kind: "serving",
      tenants: { labels: ["customer"], gateways: [], allowEmails: true, most: 5 },
    });
  });

  it.each([
    ["namespaces: [chat, llm]", ["chat", "llm"]],
    ["namespaces: ['*']", []],
    ["namespaces: ['*'], gateways: [llm]", ["llm"]],
    ["namespaces: [chat], exporters: [{ labels: app=g, namespaces: [llm] }]", ["chat", "llm"]],
    ["namespaces: [chat], exporters: [{ labels: app=g, namespaces: ['*'] }]", []],
  ])("believe the gateways of named namespaces alone: %s", (kubernetes, gateways) => {
    const [job] = jobsOf(`collector: { jobs: [{ name: a, reads: serving, kubernetes: { ${kubernetes} } }] }`);
    expect(job!.reads).toMatchObject({ tenants: { gateways } });
  });

  it("have a discovery for each kind of target", () => {
    const [job] = jobsOf(
      "collector: { jobs: [{ name: a, targets: [x], files: { paths: ['t/*.json'] }, http: [{ url: 'http://sd/' }], dns: [{ names: [gpu] }] }] }",
    );
    expect(job!.discoveries.map(({ name }) => name)).toEqual([
      "static",
      "files t/*.json",
      "http http://sd/",
      "dns gpu",
    ]);
  });

  it("never get an invalid address: the configuration refuses it by name", () => {
    expect(() => jobsOf("collector: { jobs: [{ name: a, targets: ['a b'] }] }")).toThrow(
      'collector.jobs[0].targets[0] (line 1): "a b" is not an address',
    );
  });
});
