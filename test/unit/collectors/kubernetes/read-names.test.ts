import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { gpuResource } from "../../../../collectors/kubernetes/projection/gpu-resource.ts";
import { hasClusterFact } from "../../../../collectors/kubernetes/projection/cluster-fact.ts";
import {
  READ_ANNOTATIONS,
  READ_LABELS,
  READ_NODE_ANNOTATIONS,
  READ_NODE_LABELS,
} from "../../../../collectors/kubernetes/projection/read-names.ts";

const ROOT = new URL("../../../../collectors/kubernetes/", import.meta.url);
/** A name with a prefix, as most labels have it. */
const NAMED = /"([a-z0-9][a-z0-9.-]*\/[A-Za-z0-9_.-]*[A-Za-z0-9])"/g;
/** Names that are no labels or annotations of pods and nodes, or that a source in another notation cannot have. */
const OTHERS = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "node.kubernetes.io/unschedulable",
  "resource.kubernetes.io/pciBusID",
];

it("the lists of read names have every label and annotation in the code of the projections", () => {
  const files = [
    ...readdirSync(new URL("projection/", ROOT), { recursive: true, encoding: "utf8" }).map(
      (file) => `projection/${file}`,
    ),
    "owners/type.ts",
    "owners/workload-name.ts",
  ].filter((file) => file.endsWith(".ts") && !file.endsWith("read-names.ts"));
  const written = files.flatMap((file) =>
    [...readFileSync(new URL(file, ROOT), "utf8").matchAll(NAMED)].map(([, name]) => name!),
  );
  const known = new Set([
    ...READ_LABELS,
    ...READ_ANNOTATIONS,
    ...READ_NODE_LABELS,
    ...READ_NODE_ANNOTATIONS,
    ...OTHERS,
  ]);
  const missing = new Set(
    written.filter((name) => {
      const [group = "", kind = ""] = name.split("/");
      return !known.has(name) && gpuResource(name) === undefined && !hasClusterFact(`${group}/v1`, kind);
    }),
  );
  expect(written.length).toBeGreaterThan(100);
  expect([...missing]).toEqual([]);
});
