import { isIPv6, SocketAddress } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { targetOf } from "../../../../collectors/kubernetes/exporter-target.ts";
import type { PagePod } from "../../../../collectors/kubernetes/pod-target.ts";
import { rounds } from "../../../support/rounds.ts";

const ASKED = { namespaces: ["monitoring"], scheme: "http", port: 9400, path: "/metrics" };
/** Ports of a mesh's proxy, whose annotations are not the exporter's. */
const MESH = ["15020", "15090", "4191", "20200", "5670", "15010"];
const IPS = ["10.0.0.7", "fd00::7", "::10.0.0.8", "127.0.0.1", "169.254.169.254", "fe80::1"];

/** Pieces of addresses that could redirect a request, in any order. */
const piece = fc.constantFrom(
  ..."/ // \\ @ : ? # . .. %2f %00 \t \r\n [ ] 80 9400 http: https:// metadata.internal 10.0.0.8 fd00::8 a é".split(
    " ",
  ),
  " ",
);
const hostile = fc.oneof(
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
  fc.string(),
);

/** Returns an address in its one form: `::10.0.0.8` and `::a00:8` are the same. */
function addressOf(text: string): string {
  return new SocketAddress({ address: text, family: isIPv6(text) ? "ipv6" : "ipv4" }).address;
}

function podOf(annotations: Readonly<Record<string, string>>, podIP: string, namespace: string): PagePod {
  return {
    metadata: { name: "one", namespace, uid: "u", resourceVersion: "1", annotations },
    spec: { nodeName: "gpu-a" },
    status: { phase: "Running", podIP },
  };
}

it("a pod is asked at its own address by a port and a path, or not at all, for any annotations", () => {
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(
      fc.record(
        {
          "prometheus.io/port": fc.oneof(hostile, fc.constantFrom(...MESH), fc.nat(70_000).map(String)),
          "prometheus.io/path": hostile,
        },
        { requiredKeys: [] },
      ),
      fc.oneof(fc.constantFrom(...IPS), hostile),
      fc.constantFrom("monitoring", "tenant"),
      (annotations, podIP, namespace) => {
        const outcome = targetOf(podOf(annotations, podIP, namespace), ASKED);
        if (outcome === undefined) return;
        outcomes.add("url" in outcome ? "target" : outcome.reason);
        expect("url" in outcome ? 0 : outcome.detail.length).toBeLessThanOrEqual(200);
        if (!("url" in outcome)) return;
        const url = new URL(outcome.url);
        expect(podIP).not.toMatch(/^169\.254|^fe80/i);
        expect(namespace).toBe("monitoring");
        expect(url.protocol).toBe("http:");
        expect(addressOf(url.hostname.replace(/^\[|\]$/g, ""))).toBe(addressOf(podIP));
        const { "prometheus.io/port": port = "9400" } = annotations;
        expect(Number(url.port === "" ? 80 : url.port)).toBe(Number(MESH.includes(port) ? "9400" : port));
        expect([url.username, url.password, url.search, url.hash]).toEqual(["", "", "", ""]);
      },
    ),
    { numRuns: rounds(50_000) },
  );
  expect([...outcomes].toSorted()).toEqual(["address", "namespace", "path", "port", "target"]);
});
