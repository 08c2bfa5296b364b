import { z } from "zod";
import { readWeekHours, WEEK_HOURS_FORM } from "../../domain/advice/week-hours.ts";
import { readPattern, type Pattern } from "../../domain/owner/pattern.ts";
import { instant } from "./instant.ts";
import { list, oneOf, text, whole } from "./words.ts";
import type { FileProblem } from "./file-problem.ts";
import { readYaml } from "./yaml.ts";

/** A pattern or several, of which one must fit. */
type Patterns = Pick<Pattern, "text" | "fits">;

const NAME = "a name, a glob such as vision-*, a regular expression between slashes, or a list of these";

const pattern = z
  .union([text(NAME), z.array(z.string()).min(1)], { error: NAME })
  .transform((given, context): Patterns => {
    const patterns: Pattern[] = [];
    for (const each of typeof given === "string" ? [given] : given) {
      const read = readPattern(each);
      if (!("allowed" in read)) {
        patterns.push(read);
        continue;
      }
      context.addIssue({ code: "custom", message: read.allowed });
      return z.NEVER;
    }
    const [first] = patterns;
    if (patterns.length === 1) return first!;
    const names = new Set(patterns.filter(({ kind }) => kind === "exact").map((each) => each.text));
    const others = patterns.filter(({ kind }) => kind !== "exact");
    return {
      text: JSON.stringify(patterns.map((each) => each.text)),
      fits: (name) => names.has(name) || others.some((each) => each.fits(name)),
    };
  });

const weekHours = text(WEEK_HOURS_FORM).transform((given, context) => {
  const read = readWeekHours(given);
  if (read !== undefined) return read;
  context.addIssue({ code: "custom", message: WEEK_HOURS_FORM });
  return z.NEVER;
});

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
    stage: pattern.optional(),
    queue: pattern.optional(),
    node: pattern.optional(),
    gpu: pattern.optional(),
    pool: pattern.optional(),
    model: pattern.optional(),
    instanceType: pattern.optional(),
    from: instant.optional(),
    until: instant.optional(),
    hours: weekHours.optional(),
  })
  .refine((fields) => Object.keys(fields).length > 0, {
    error: "at least one field of the holders, such as { team: vision }",
  })
  .transform(({ from = -Infinity, until = Infinity, hours, ...names }) => ({ names, from, until, hours }));

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
  })
  .transform((names) => ({ names }));

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

const capacityType = oneOf("on-demand", "spot", "reserved", "owned");

const gpus = z.strictObject({
  model: text("a GPU model of the price book, such as NVIDIA-L4"),
  count: whole(1, 64).default(1),
  nodeGpus: whole(1, 64).optional(),
  instanceType: text("an instance type").optional(),
  region: text("a region").optional(),
  zone: text("a zone").optional(),
  pool: text("a node pool").optional(),
  capacityType: capacityType.optional(),
});

const FORM =
  "one of { release }, { resize, to: { mig } | { fraction } }, { move, to: { model } }, { remove, nodes }, { pack, nodes }, { pay, as }";

const change = z.union(
  [
    z.strictObject({ release: where }).transform((of) => ({ what: "release", where: of.release }) as const),
    z
      .strictObject({ resize: where, to: part })
      .transform((of) => ({ what: "resize", where: of.resize, to: of.to }) as const),
    z
      .strictObject({ remove: nodes, nodes: whole(1, 100_000) })
      .transform((of) => ({ what: "remove", where: of.remove, nodes: of.nodes }) as const),
    z
      .strictObject({ pack: nodes, nodes: whole(1, 100_000) })
      .transform((of) => ({ what: "pack", where: of.pack, nodes: of.nodes }) as const),
    z
      .strictObject({ pay: nodes, as: capacityType })
      .transform((of) => ({ what: "pay", where: of.pay, as: of.as }) as const),
    z.strictObject({ move: where, to: gpus }).transform((of) => ({ what: "move", where: of.move, to: of.to }) as const),
  ],
  { error: FORM },
);

/** Changes of nodes do not stand in the way of others. */
const OF_NODES: Readonly<Record<string, string>> = { remove: "remove", pack: "pack", pay: "pay" };

/** The schema of a change of the past. An empty file changes nothing. */
const whatIf = z.strictObject({
  changes: list(change)
    .default([])
    .superRefine((changes, context) => {
      const texts = changes.map((each) => `${OF_NODES[each.what] ?? ""} ${textOf(each.where)}`);
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
export type Change = WhatIf["changes"][number];

/**
 * Fewer nodes, of those that match the ones with the least held GPU-time. Nodes that are removed leave while nobody holds them; nodes that are
 * packed leave because their pods would have been on other nodes.
 */
export type NodeChange = Change & { readonly what: "remove" | "pack" };

/** Nodes that would have been paid for in another way. */
export type PaidChange = Change & { readonly what: "pay" };

/** A change of holders: they would have held nothing, a smaller part of their GPUs, or other GPUs. */
export type HolderChange = Exclude<Change, NodeChange | PaidChange>;

/** The holders that a change is for: each given field matches. */
export type HolderMatch = HolderChange["where"];

/** The smaller part of a GPU that a holder would have held. */
export type SmallerPart = (Change & { readonly what: "resize" })["to"];

/** The GPUs that a holder would have held instead of each of its GPUs. */
export type OtherGpus = (Change & { readonly what: "move" })["to"];

/** Returns true for a change that makes nodes leave. */
export function isNodeChange(of: Change): of is NodeChange {
  return of.what === "remove" || of.what === "pack";
}

/** Reads a change of the past from the YAML text of a file. Returns the change, or all problems. */
export function readWhatIf(
  content: string,
): { readonly value: WhatIf } | { readonly problems: readonly FileProblem[] } {
  return readYaml(content, whatIf, { keys: "see docs/advice.md" });
}

function textOf({ names, ...times }: HolderMatch | NodeChange["where"]): string {
  const texts = Object.entries(names).map(([field, given]) => `${field} ${given?.text}`);
  const { from, until, hours } = { from: 0, until: 0, hours: undefined, ...times };
  return JSON.stringify([texts.toSorted((one, other) => (one < other ? -1 : 1)), from, until, [...(hours ?? [])]]);
}
