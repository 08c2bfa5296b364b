import * as models from "@kubernetes/client-node";
import fc from "fast-check";

/** A field of a type in Kubernetes' OpenAPI description. */
interface Field {
  readonly baseName: string;
  readonly type: string;
}

const TYPES = models as unknown as Readonly<
  Record<string, { getAttributeTypeMap?: () => readonly Field[] } | undefined>
>;

/** Names that the code treats specially, among names without a meaning. */
const NAMES = [
  "nvidia.com/gpu",
  "nvidia.com/mig-1g.10gb",
  "nvidia.com/gpu.shared",
  "nvidia.com/gpumem",
  "amd.com/gpu",
  "gpu.intel.com/i915",
  "nvidia.com/gpu.count",
  "nvidia.com/gpu.product",
  "nvidia.com/gpu.replicas",
  "hami.io/vgpu-devices-allocated",
  "hami.io/node-nvidia-register",
  "volcano.sh/gpu-memory",
  "run.ai/fraction",
  "gpu-fraction",
  "gpu-memory",
  "gpu-ledger/delivered",
  "scheduling.k8s.io/group-name",
  "node.kubernetes.io/instance-type",
  "type",
  "uuid",
  "memory",
  "constructor",
  "a",
];
const TEXTS = [
  "",
  "0",
  "1",
  "8",
  "-1",
  "1e400",
  "99999999999999999999",
  "500m",
  "nvidia0/gi3/vgpu1",
  "nvidia99999999999999999999",
  "card0-1",
  "GPU-1::0",
  "0000:c1:00.0",
  "MIG-1",
  "16Gi",
  "1g.10gb",
  "GPU-0,NVIDIA,1024,50:;",
  "gpu.nvidia.com",
  "Running",
  "Ready",
  "True",
  "2026-03-01T12:00:00Z",
  "0001-01-01T00:00:00Z",
  "not a time",
  "GPU-11111111-2222-3333-4444-555555555555",
  "\u0000",
  "{}",
  '[[{"uuid":1}]]',
  "null",
];

const text = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
);
const number = fc.constantFrom(0, 1, 2, 8, -1, 2 ** 31, 1e15, 0.5);

function valueOf(type: string, depth: number): fc.Arbitrary<unknown> {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list !== undefined) return fc.array(valueOf(list, depth), { maxLength: 3 });
  const record = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  if (record !== undefined) return fc.dictionary(fc.constantFrom(...NAMES), valueOf(record, depth), { maxKeys: 4 });
  if (type === "number") return number;
  if (type === "boolean") return fc.boolean();
  if (type === "IntOrString") return fc.oneof(number, text);
  const fields = TYPES[type]?.getAttributeTypeMap?.();
  if (fields === undefined) return text;
  return depth === 0 ? fc.constant({}) : objectOf(type, depth - 1);
}

/**
 * A random object of a type of Kubernetes' API, such as `V1Pod`: its fields with their types, each of which may be missing, or `null`, as servers
 * write it. Some of the objects would be refused at admission.
 */
export function objectOf(type: string, depth = 7): fc.Arbitrary<Record<string, unknown>> {
  const fields = TYPES[type]!.getAttributeTypeMap!();
  const parts = fields.map(({ baseName, type: of }) => [
    baseName,
    fc.option(valueOf(of, depth), { freq: 6, nil: null }),
  ]) as [string, fc.Arbitrary<unknown>][];
  return fc.record(Object.fromEntries(parts), { requiredKeys: [] });
}
