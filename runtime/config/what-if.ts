import { z } from "zod";
import { readPattern, type Pattern } from "../../domain/owner/pattern.ts";
import { list, oneOf, text, whole } from "./words.ts";
import { readYaml, type FileProblem } from "./yaml.ts";

const pattern = text("a name, a glob such as vision-*, or a regular expression between slashes").transform(
  (given, context): Pattern => {
    const read = readPattern(given);
    if (!("allowed" in read)) return read;
    context.addIssue({ code: "custom", message: read.allowed });
    return z.NEVER;
  },
);

/** The fields of a holder and its GPU that a change can name. */
const where = z
  .strictObject({
    team: pattern.optional(),
    cluster: pattern.optional(),
    namespace: pattern.optional(),
    workload: pattern.optional(),
    kind: pattern.optional(),
    type: pattern.optional(),
    pod: pattern.optional(),
    queue: pattern.optional(),
    node: pattern.optional(),
    pool: pattern.optional(),
    model: pattern.optional(),
    instanceType: pattern.optional(),
  })
  .refine((fields) => Object.keys(fields).length > 0, {
    error: "at least one field of the holders, such as { team: vision }",
  });

/** The fields of a node that a change can name. */
const nodes = z
  .strictObject({
    cluster: pattern.optional(),
    node: pattern.optional(),
    pool: pattern.optional(),
    model: pattern.optional(),
    instanceType: pattern.optional(),
  })
  .refine((fields) => Object.keys(fields).length > 0, {
    error: "at least one field of the nodes, such as { pool: a }",
  });

const ONE_GPU = 1_000_000;

const part = z.union(
  [
    z.strictObject({ mig: z.string().regex(/^\d+g\.\d+gb$/) }),
    z
      .strictObject({ fraction: z.number().gt(0).lt(1) })
      .transform(({ fraction }) => ({ ppm: Math.round(fraction * ONE_GPU) })),
  ],
  { error: "{ mig: 1g.10gb }, or { fraction: 0.25 }" },
);

const gpus = z.strictObject({
  model: text("a GPU model of the price book, such as NVIDIA-L4"),
  count: whole(1, 64).default(1),
  instanceType: text("an instance type").optional(),
  region: text("a region").optional(),
  zone: text("a zone").optional(),
  pool: text("a node pool").optional(),
  capacityType: oneOf("on-demand", "spot", "reserved", "owned").optional(),
});

const FORM = "one of { release }, { resize, to: { mig } | { fraction } }, { move, to: { model } }, { remove, nodes }";

const change = z.union(
  [
    z.strictObject({ release: where }).transform((of) => ({ what: "release", where: of.release }) as const),
    z
      .strictObject({ resize: where, to: part })
      .transform((of) => ({ what: "resize", where: of.resize, to: of.to }) as const),
    z
      .strictObject({ remove: nodes, nodes: whole(1, 100_000) })
      .transform((of) => ({ what: "remove", where: of.remove, nodes: of.nodes }) as const),
    z.strictObject({ move: where, to: gpus }).transform((of) => ({ what: "move", where: of.move, to: of.to }) as const),
  ],
  { error: FORM },
);

/** The schema of a change of the past. An empty file changes nothing. */
const whatIf = z.strictObject({
  changes: list(change)
    .default([])
    .superRefine((changes, context) => {
      const texts = changes.map((each) => `${each.what === "remove"} ${textOf(each.where)}`);
      texts.forEach((each, index) => {
        if (texts.indexOf(each) === index) return;
        const message = "a change for others than those of an earlier change, which counts";
        context.addIssue({ code: "custom", path: [index], message });
      });
    }),
  freed: oneOf("stay", "leave").default("stay"),
  policy: text("the name of a policy").optional(),
  prices: list(z.unknown()).optional(),
});

/** A change of the past, as a file has it. `ppm` is a part of a GPU in parts per million. */
export type WhatIf = z.output<typeof whatIf>;

/** One change of the past. */
type Change = WhatIf["changes"][number];

/** Fewer nodes: of those that match, the ones with the least held GPU-time. */
export type NodeChange = Change & { readonly what: "remove" };

/** A change of holders: they would have held nothing, a smaller part of their GPUs, or other GPUs. */
export type HolderChange = Exclude<Change, NodeChange>;

/** The holders that a change is for: each given field matches. */
export type HolderMatch = HolderChange["where"];

/** The smaller part of a GPU that a holder would have held. */
export type SmallerPart = (Change & { readonly what: "resize" })["to"];

/** The GPUs that a holder would have held instead of each of its GPUs. */
export type OtherGpus = (Change & { readonly what: "move" })["to"];

/** Reads a change of the past from the YAML text of a file. Returns the change, or all problems. */
export function readWhatIf(
  content: string,
): { readonly value: WhatIf } | { readonly problems: readonly FileProblem[] } {
  return readYaml(content, whatIf, { unknownKey: "no such key; see docs/advice.md" });
}

function textOf(fields: Change["where"]): string {
  const texts = Object.entries(fields).map(([field, given]) => `${field} ${given?.text}`);
  return JSON.stringify(texts.toSorted((one, other) => (one < other ? -1 : 1)));
}
