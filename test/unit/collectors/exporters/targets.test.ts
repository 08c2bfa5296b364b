import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createDnsDiscovery } from "../../../../collectors/exporters/targets/dns.ts";
import { createFileDiscovery } from "../../../../collectors/exporters/targets/files.ts";
import { readTargetGroups } from "../../../../collectors/exporters/targets/group.ts";
import { hash32 } from "../../../../collectors/exporters/targets/hash.ts";
import { nodeOf, toUrl, type Target } from "../../../../collectors/exporters/targets/target.ts";

const DEFAULTS = { scheme: "http", port: 9400, path: "/metrics" } as const;

describe("an address", () => {
  it.each([
    ["gpu-a", "http://gpu-a:9400/metrics"],
    ["gpu-a:9401", "http://gpu-a:9401/metrics"],
    ["10.0.0.1:80", "http://10.0.0.1/metrics"],
    ["[fd00::1]", "http://[fd00::1]:9400/metrics"],
    ["https://gpu-a/custom?x=1", "https://gpu-a:9400/custom?x=1"],
    ["http://gpu-a:80", "http://gpu-a/metrics"],
  ])("%s becomes %s", (address, url) => expect(toUrl(address, DEFAULTS)).toBe(url));

  it("that is invalid is refused by name", () => {
    expect(() => toUrl("not an address", DEFAULTS)).toThrow('"not an address" is not an address');
  });
});

describe("the node of a target", () => {
  const url = "http://10.0.0.1:9400/metrics";
  it("is its label, or the discovered pod's node, or the page's host, or the address, in this order", () => {
    const devices = [{ gpu: "0" }, { gpu: "1", hostname: "gpu-node-7" }];
    const pod = { name: "dcgm-exporter-x8k2p", nodeName: "worker-3" };
    expect(nodeOf({ url, labels: { node: "n" }, pod }, devices)).toBe("n");
    expect(nodeOf({ url, labels: {}, pod }, devices)).toBe("worker-3");
    expect(nodeOf({ url, labels: {} }, devices)).toBe("gpu-node-7");
    expect(nodeOf({ url, labels: {} }, [])).toBe("10.0.0.1:9400");
  });

  it.each(["localhost", "nvidia-dcgm-exporter-tl46n"])("is never %s", (hostname) => {
    expect(nodeOf({ url, labels: {} }, [{ hostname }])).toBe("10.0.0.1:9400");
  });
});

describe("target groups of Prometheus", () => {
  it("are read from JSON and from YAML, with scheme and path from their labels", () => {
    const json =
      '[{"targets":["a","b:1"],"labels":{"node":"n","__scheme__":"https","__metrics_path__":"/m","rack":7}}]';
    expect(readTargetGroups(JSON.parse(json), DEFAULTS)).toEqual([
      { url: "https://a:9400/m", labels: { node: "n", rack: "7" } },
      { url: "https://b:1/m", labels: { node: "n", rack: "7" } },
    ]);
    expect(readTargetGroups(parse("- targets: [a]\n"), DEFAULTS)).toEqual([
      { url: "http://a:9400/metrics", labels: {} },
    ]);
  });

  it.each([
    ["{}", "not a list of target groups"],
    ['[{"targets":"a"}]', "group 1 is not { targets: [addresses], labels: { … } }"],
    ['[{"targets":[]},{"targets":[1]}]', "group 2 is not"],
  ])("%s are refused with a sentence", (text, why) => {
    expect(() => readTargetGroups(JSON.parse(text), DEFAULTS)).toThrow(why);
  });
});

describe("files of targets", () => {
  it("are read again when they change, and keep their last content while they cannot be read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-sd-"));
    const write = (name: string, text: string): void => {
      writeFileSync(join(folder, `${name}.tmp`), text);
      renameSync(join(folder, `${name}.tmp`), join(folder, name));
    };
    write("a.json", '[{"targets":["a1"]}]');
    write("b.json", '[{"targets":["b1"]}]');
    const discovery = createFileDiscovery({ files: [join(folder, "*.json")], refreshMillis: 20, defaults: DEFAULTS });
    const seen: string[][] = [];
    const errors: string[] = [];
    discovery.start(
      (targets) => seen.push(targets.map(({ url }) => new URL(url).hostname)),
      (error) => errors.push(error.message),
    );
    const until = async (hosts: readonly string[]): Promise<void> => {
      await expect.poll(() => seen.at(-1)).toEqual(hosts);
    };
    await until(["a1", "b1"]);
    write("a.json", '[{"targets":["a1","a2"]}]');
    await until(["a1", "a2", "b1"]);
    write("a.json", "[{");
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    expect(errors[0]).toContain("a.json");
    expect(seen.at(-1)).toEqual(["a1", "a2", "b1"]);
    write("a.json", "[".repeat(60_000));
    await expect.poll(() => errors.at(-1)).toContain("a.json: not at most 100 lists and mappings");
    rmSync(join(folder, "b.json"));
    await until(["a1", "a2"]);
    await discovery.stop();
    rmSync(folder, { recursive: true });
  });
});

describe("targets from a name server", () => {
  it("are one for each address or service record, and stay while the server fails", async () => {
    let failing = false;
    const server = {
      resolve4: () => answer(["10.0.0.2", "10.0.0.1"]),
      resolve6: () => answer(["fd00::1"]),
      resolveSrv: () => answer([{ name: "gpu-a.local", port: 9401 }]),
    };
    const answer = <T>(records: T): Promise<T> =>
      failing ? Promise.reject(new Error("SERVFAIL")) : Promise.resolve(records);
    const urlsOf = async (type: "A" | "AAAA" | "SRV"): Promise<string[]> => {
      const discovery = createDnsDiscovery({
        names: ["exporters"],
        type,
        refreshMillis: 10,
        defaults: DEFAULTS,
        server,
      });
      let targets: readonly Target[] = [];
      let failures = 0;
      discovery.start(
        (found) => (targets = found),
        () => (failures += 1),
      );
      await expect.poll(() => targets.length).toBeGreaterThan(0);
      failing = true;
      await expect.poll(() => failures).toBeGreaterThan(1);
      failing = false;
      await discovery.stop();
      return targets.map(({ url }) => url);
    };
    expect(await urlsOf("A")).toEqual(["http://10.0.0.1:9400/metrics", "http://10.0.0.2:9400/metrics"]);
    expect(await urlsOf("AAAA")).toEqual(["http://[fd00::1]:9400/metrics"]);
    expect(await urlsOf("SRV")).toEqual(["http://gpu-a.local:9401/metrics"]);
  });
});

describe("the hash that spreads targets", () => {
  it("gives every shard its part, and spreads the scrapes over the interval", () => {
    const urls = Array.from({ length: 9000 }, (_, i) => `http://10.${i >> 8}.${i & 255}.7:9400/metrics`);
    for (const parts of [2, 3, 30]) {
      const counts = Array.from({ length: parts }, () => 0);
      for (const url of urls) counts[hash32(url) % parts]! += 1;
      const expected = urls.length / parts;
      for (const count of counts) expect(Math.abs(count - expected)).toBeLessThan(5 * Math.sqrt(expected));
    }
  });
});
