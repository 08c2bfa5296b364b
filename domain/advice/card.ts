import type { Money } from "../exact/units.ts";
import type { Window, WorkloadName } from "./evidence.ts";

/** The kinds of cards, each with its title. */
export const CARD_KINDS = {
  "idle-workload": "Workload that does nothing",
  "unused-gpus": "GPUs of a workload that nothing uses",
  "smaller-part": "A smaller part of a GPU is enough",
  "smaller-model": "A cheaper GPU model is enough",
  "fewer-replicas": "Fewer replicas are enough",
  "off-hours": "Idle at night or on weekends",
  "empty-nodes": "Nodes that nobody holds",
  "pack-nodes": "Nodes that could be emptied",
  spot: "A training that can restart pays on demand",
  commitment: "Steady nodes that are paid on demand",
  "waiting-gang": "Pods that hold GPUs while their gang waits",
} as const;

/** A kind of card. */
export type CardKind = keyof typeof CARD_KINDS;

/** The subject of a card: a workload, or a group of equal nodes. Fields that do not apply are empty. */
export interface CardSubject extends WorkloadName {
  readonly team: string;
  readonly type: string;
  readonly pool: string;
  readonly model: string;
  /** Of nodes; absent for a workload. */
  readonly instanceType?: string;
  readonly capacityType?: string;
}

/** A change of the past, as a file of `gpu-ledger advise --what-if` has it. */
export type WrittenChange = Readonly<Record<string, unknown>>;

/** Returns the nodes that changes of nodes name. */
export function namedNodes(changes: readonly WrittenChange[]): readonly string[] {
  return changes.flatMap(({ remove, pack, pay }) => {
    const of = (remove ?? pack ?? pay) as { readonly node: readonly string[] } | undefined;
    return of?.node ?? [];
  });
}

/** A figure of the evidence. `value` is text for people: `97.2 %`, `3.1 of 80 GiB`. */
export interface Figure {
  readonly name: string;
  readonly value: string;
}

/** A file or a command that makes the change in a cluster. */
export interface Remedy {
  /** One sentence in plain English: what to change. */
  readonly what: string;
  /** The lines of the command, or of the manifest. */
  readonly lines: string;
}

/** A card before its saving is known. */
export interface Proposal {
  readonly kind: CardKind;
  readonly subject: CardSubject;
  readonly changes: readonly WrittenChange[];
  /** Since when the evidence holds, milliseconds since the epoch: the start of the window, or later. */
  readonly from: number;
  readonly figures: readonly Figure[];
  readonly remedy: Remedy;
  /** The possible harm of the change. */
  readonly risks: readonly string[];
  /** The reasons why the card is not surer. Without a reason its confidence is high. */
  readonly doubts: readonly string[];
}

/** The amounts of the GPUs that a card changes, for one payer and state, in both bills. */
export interface CardLine {
  readonly team: string;
  readonly state: string;
  readonly was: Money;
  readonly otherwise: Money;
}

/** The saving of a card in its window. Amounts are differences of two bills; negative amounts cost more. */
export interface Saving {
  /** The amount that the owner would have paid less; for nodes, that all who pay for them would have paid less. */
  readonly owner: Money;
  /** The amount that GPUs without a holder would have cost more. */
  readonly freed: Money;
  /** The amounts that the organization would have paid less, if the freed GPUs stay in the fleet, and if they leave it. */
  readonly organization: Money;
  readonly organizationIfFreedLeave: Money;
}

/** The activity of a card's workload in each hour of the window. A value is -1 without a sample. */
export interface CardHours {
  /** Mean and highest activity in percent. */
  readonly mean: readonly number[];
  readonly max: readonly number[];
  /** The most memory in use on one device, in MiB. */
  readonly memoryMiB: readonly number[];
  /** The devices held, on average. */
  readonly devices: readonly number[];
}

/** A card with its proof. */
export interface Card extends Proposal {
  /** The same for the same kind and subject, in every window. */
  readonly id: string;
  readonly window: Window;
  readonly currency: string;
  readonly saving: Saving;
  /** Both bills of the GPUs that the card changes. Their differences sum to `saving.organization`. */
  readonly lines: readonly CardLine[];
  /** Other changes of the same workload that save less. Their savings do not add to this one. */
  readonly alternatives: readonly { readonly kind: CardKind; readonly what: string; readonly owner: Money }[];
  /** Absent for nodes. */
  readonly hours?: CardHours;
}

/** The confidence in a card: high without a doubt, low with more than two. */
export type Confidence = "high" | "medium" | "low";

/** Returns the confidence in a card. */
export function confidenceOf({ doubts }: Pick<Proposal, "doubts">): Confidence {
  if (doubts.length === 0) return "high";
  return doubts.length <= 2 ? "medium" : "low";
}

/** A reason why a workload has no card although its evidence was judged. */
export const REFUSALS = {
  days: "the workload held GPUs for less than the days of the window",
  unstarted: "the workload only started, or waited for its gang",
  coverage: "samples are missing",
  memory: "the used memory of its GPUs is not known",
  price: "the change has no price, or saves nothing",
} as const;

/** See {@link REFUSALS}. */
export type Refusal = keyof typeof REFUSALS;
