import { stringify } from "yaml";
import type { Card } from "../../domain/advice/card.ts";
import { momentText } from "../../domain/time.ts";
import { difference, formatAmount, sum, type Money } from "../../domain/exact/units.ts";
import type { Mark } from "./marks.ts";

/** Returns the name of a card's subject for people: `vision/Job/train`, or `NVIDIA-L4 in spot` for nodes. */
export function subjectText({ subject }: Pick<Card, "subject">): string {
  const { namespace, kind, workload, pool, model } = subject;
  return workload === ""
    ? [model, pool].filter((part) => part !== "").join(" in ")
    : `${namespace}/${kind}/${workload}`;
}

/** Returns a saving as a part of a sentence: `3.6 USD less`; `3.6 USD more` for a negative one. */
export function lessText(saving: Money, currency: string): string {
  return saving < 0n
    ? `${formatAmount(difference(sum([]), saving))} ${currency} more`
    : `${formatAmount(saving)} ${currency} less`;
}

/** Returns the change of a card as a file for `gpu-ledger advise --what-if`. The text ends with a line break. */
export function whatIfText({ changes }: Pick<Card, "changes">): string {
  return stringify({ changes });
}

/** Returns a decision in a few words: `dismissed by ada until 2026-05-01`. */
export function decisionText({ what, who, until }: Mark): string {
  const by = what === "open" ? `open again, by ${who}` : `${what} by ${who}`;
  return until === undefined ? by : `${by} until ${momentText(until)}`;
}
