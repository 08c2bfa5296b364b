import { CARD_KINDS, confidenceOf, REFUSALS, type Card, type Refusal } from "../../domain/advice/card.ts";
import { perMonth, writeCard } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { formatAmount, sum, type Money } from "../../domain/exact/units.ts";
import { DAY_MILLIS, momentText } from "../../domain/time.ts";
import type { Advice } from "../../processors/ledger/advice/make-cards.ts";
import { isDismissed, markJson, type Mark } from "../../reports/advice/marks.ts";
import { decisionText, lessText, subjectText, whatIfText } from "../../reports/advice/text.ts";
import { formatCsv } from "../../reports/format/csv.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { formatTable } from "../../reports/format/table.ts";

/** Which cards are printed, and how. */
export interface CardsAsked {
  readonly team?: string | undefined;
  readonly kind?: string | undefined;
  /** The id of one card. */
  readonly card?: string | undefined;
  readonly format: PrintFormat;
  /** True for dismissed cards too. */
  readonly all: boolean;
  /** The newest decision about each card, by its id. */
  readonly marks: ReadonlyMap<string, Mark>;
  /** The time at which dismissals are judged, milliseconds since the epoch. */
  readonly now: number;
}

/** Returns the cards of a window as text that ends with a line break; undefined if the one card does not exist. Amounts are exact. */
export function printCards(advice: Advice, asked: CardsAsked): string | undefined {
  const { team, kind, card: id, format, all, marks, now } = asked;
  const found = advice.cards.filter(
    (card) =>
      (id === undefined || card.id === id) &&
      (team === undefined || card.subject.team === team) &&
      (kind === undefined || card.kind === kind),
  );
  const cards = found.filter((card) => all || id !== undefined || !isDismissed(marks.get(card.id), now));
  const [one] = cards;
  if (id !== undefined && one === undefined) return undefined;
  switch (format) {
    case "table":
      return id === undefined
        ? tableOf(advice, cards, { marks, hidden: found.length - cards.length })
        : cardText(one!, marks.get(id));
    case "json":
      return `${JSON.stringify(jsonOf(advice, cards, marks), undefined, 2)}\n`;
    case "csv":
      return csvOf(cards, marks);
  }
}

function tableOf(
  { window, workloads, refusals }: Advice,
  cards: readonly Card[],
  { marks, hidden }: Pick<CardsAsked, "marks"> & { readonly hidden: number },
): string {
  const days = `${momentText(window.from)} to ${momentText(window.until)}`;
  const lines = Object.entries(refusals).map(([because, count]) => `  ${count}: ${REFUSALS[because as Refusal]}\n`);
  const dismissed = hidden === 0 ? "" : `${counted(hidden, "dismissed card")} not shown. --all shows them.\n`;
  const refused = lines.length === 0 ? "" : `Without a card, of ${counted(workloads, "workload")}:\n${lines.join("")}`;
  const [first] = cards;
  if (first === undefined) return `${days}: no cards\n${dismissed}${refused}`;
  const { currency } = first;
  const isDecided = cards.some(({ id }) => marks.has(id));
  const table = formatTable(
    [
      "id",
      "kind",
      "team",
      "of",
      `${currency} less for the owner`,
      "a month",
      "for the organization, if GPUs leave",
      "sure",
      ...(isDecided ? ["decision"] : []),
    ],
    cards.map((card) => [
      { text: card.id },
      { text: card.kind },
      { text: card.subject.team },
      { text: subjectText(card) },
      { number: formatAmount(card.saving.owner) },
      { number: formatAmount(perMonth(card.saving.owner, card.window)) },
      { number: formatAmount(card.saving.organizationIfFreedLeave) },
      { text: confidenceOf(card) },
      ...(isDecided ? [{ text: decisionOf(marks, card) }] : []),
    ]),
  );
  const total = (of: (card: Card) => Money): string => formatAmount(sum(cards.map(of)));
  return [
    `${days}: ${counted(cards.length, "card")}\n\n`,
    table,
    `\nThe organization pays ${total(({ saving }) => saving.organizationIfFreedLeave)} ${currency} less if freed GPUs leave, `,
    `and ${total(({ saving }) => saving.organization)} ${currency} less while they stay. `,
    `Together the owners pay ${total(({ saving }) => saving.owner)} ${currency} less.\n`,
    dismissed,
    refused,
  ].join("");
}

function cardText(card: Card, mark: Mark | undefined): string {
  const { saving, currency, window, subject, remedy, risks, doubts, alternatives } = card;
  const days = Math.round((window.until - window.from) / DAY_MILLIS);
  const amounts = (text: Money): { readonly number: string } => ({ number: formatAmount(text) });
  const less = (amount: Money): string => lessText(amount, currency);
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ["Decision", mark === undefined ? [] : [`${decisionText(mark)}: ${mark.why}`]],
    ["Evidence", card.figures.map(({ name, value }) => `${name}: ${value}`)],
    ["Change", [remedy.what, "", ...remedy.lines.split("\n")]],
    ["What could go wrong", risks],
    [`Confidence: ${confidenceOf(card)}`, doubts],
    [
      "Instead",
      alternatives.map(({ kind, what, owner }) => `${kind}: ${formatAmount(owner)} ${currency} less. ${what}`),
    ],
    ["As a file for --what-if", whatIfText(card).trimEnd().split("\n")],
  ];
  return [
    `${CARD_KINDS[card.kind]}: ${subjectText(card)} of ${subject.team}\n`,
    `Since ${momentText(card.from)}. In ${counted(days, "day")} the owner would have paid ${less(saving.owner)}, `,
    `${less(perMonth(saving.owner, window))} a month.\n`,
    saving.organization === 0n
      ? `The organization would have paid the same: GPUs that nobody holds cost ${formatAmount(saving.freed)} ${currency} more.\n`
      : `The organization would have paid ${less(saving.organization)}.\n`,
    `If freed GPUs leave the fleet, it would have paid ${less(saving.organizationIfFreedLeave)}.\n`,
    ...sections
      .filter(([, lines]) => lines.length > 0)
      .map(([title, lines]) => `\n${title}\n${lines.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join("")}`),
    `\nBoth bills of the GPUs, in ${currency}\n`,
    formatTable(
      ["team", "state", "as it was", "otherwise"],
      card.lines.map(({ team, state, was, otherwise }) => [
        { text: team },
        { text: state },
        amounts(was),
        amounts(otherwise),
      ]),
    ),
  ].join("");
}

function jsonOf({ window, workloads, refusals }: Advice, cards: readonly Card[], marks: CardsAsked["marks"]): object {
  return {
    from: momentText(window.from),
    until: momentText(window.until),
    workloads,
    refusals,
    cards: cards.map((card) => ({
      ...writeCard(card),
      confidence: confidenceOf(card),
      ownerPerMonth: formatAmount(perMonth(card.saving.owner, window)),
      mark: markJson(marks.get(card.id)),
    })),
  };
}

function csvOf(cards: readonly Card[], marks: CardsAsked["marks"]): string {
  const heads = ["id", "kind", "team", "cluster", "namespace", "workloadKind", "workload", "pool", "model", "since"];
  const amounts = ["owner", "freed", "organization", "organizationIfFreedLeave"] as const;
  return formatCsv([
    [...heads, ...amounts, "ownerPerMonth", "currency", "confidence", "change", "decision"].map((text) => ({ text })),
    ...cards.map((card) => {
      const { subject, saving, window } = card;
      const { team, cluster, namespace, kind, workload, pool, model } = subject;
      return [
        ...[card.id, card.kind, team, cluster, namespace, kind, workload, pool, model, momentText(card.from)].map(
          (text) => ({ text }),
        ),
        ...amounts.map((name) => ({ number: formatAmount(saving[name]) })),
        { number: formatAmount(perMonth(saving.owner, window)) },
        { text: card.currency },
        { text: confidenceOf(card) },
        { text: card.remedy.what },
        { text: decisionOf(marks, card) },
      ];
    }),
  ]);
}

function decisionOf(marks: CardsAsked["marks"], { id }: Card): string {
  const mark = marks.get(id);
  return mark === undefined ? "" : decisionText(mark);
}
