import { z } from "zod";
import { CARD_KINDS, REFUSALS, type CardKind, type Refusal } from "../../domain/advice/card.ts";
import { VERDICTS, type Verdict } from "../../domain/advice/came-true.ts";
import { DECISIONS } from "../advice/marks.ts";
import { decimal, time } from "./words.ts";

/** The kinds of cards, as a schema of a parameter and of answers. */
export const cardKindSchema = z.enum(Object.keys(CARD_KINDS) as [CardKind, ...CardKind[]]);

const window = z.object({ from: time, until: time });

const savings = {
  owner: decimal.describe("The amount that the owner would have paid less in the window."),
  ownerPerMonth: decimal.describe("The same for a month of 730 h."),
  freed: decimal.describe("The amount that GPUs without a holder would have cost more."),
  organization: decimal.describe("The amount that the organization would have paid less, if freed GPUs stay."),
  organizationIfFreedLeave: decimal.describe("The same, if freed GPUs leave the fleet."),
};

const subject = z.object({
  team: z.string(),
  cluster: z.string(),
  namespace: z.string(),
  kind: z.string(),
  workload: z.string(),
  type: z.string(),
  pool: z.string(),
  model: z.string(),
});

const cardSchema = z
  .object({
    id: z.string().describe("The same for the same kind and subject, in every window."),
    kind: cardKindSchema,
    subject,
    window,
    from: time.describe("Since when the evidence holds."),
    since: time.describe("The end of the first window of the unbroken row of windows that have the card."),
    currency: z.string(),
    saving: z.object(savings),
    lines: z
      .array(z.object({ team: z.string(), state: z.string(), was: decimal, otherwise: decimal }))
      .describe(
        "Both bills of the GPUs that the card changes, without the lines of teams that the viewer may not see.",
      ),
    figures: z.array(z.object({ name: z.string(), value: z.string() })),
    remedy: z.object({ what: z.string(), lines: z.string().describe("A command, or the lines of a manifest.") }),
    changes: z.array(z.record(z.string(), z.unknown())).describe("The change, as a file for `--what-if` has it."),
    risks: z.array(z.string()),
    confidence: z.enum(["high", "medium", "low"]),
    doubts: z.array(z.string()),
    alternatives: z
      .array(z.object({ kind: cardKindSchema, what: z.string(), owner: decimal }))
      .describe("Other changes for the same workload. Their savings do not add to this one."),
    mark: z
      .object({ what: z.enum(DECISIONS), at: time, until: time.nullable(), who: z.string(), why: z.string() })
      .nullable()
      .describe("The newest decision about the card."),
    hours: z
      .object({
        mean: z.array(z.number()).describe("Mean activity in percent. -1 without a sample."),
        max: z.array(z.number()).describe("The highest sample in percent."),
        memoryMiB: z.array(z.number()),
        devices: z.array(z.number()).describe("The devices held, on average."),
      })
      .optional()
      .describe("Each hour of the window, with `id`."),
  })
  .meta({ id: "AdviceCard" });

/** The cards of a run. */
export const adviceSchema = z
  .object({
    currency: z.string(),
    run: z
      .object({
        window,
        madeAt: time,
        seconds: z.number(),
        workloads: z
          .number()
          .int()
          .nullable()
          .describe("The judged workloads of all teams. Null for a viewer of some."),
        refusals: z
          .partialRecord(z.enum(Object.keys(REFUSALS) as [Refusal, ...Refusal[]]), z.number().int())
          .nullable()
          .describe("The number of workloads without a card, by reason. Null for a viewer of some teams."),
      })
      .nullable()
      .describe("The computation of the cards. Null if there is none."),
    total: z
      .object({ cards: z.number().int(), dismissed: z.number().int(), ...savings })
      .describe("The sums of the cards of all pages. `dismissed` is the number of cards that are left out."),
    cards: z.array(cardSchema),
    next: z.string().nullable().describe("The cursor of the next page."),
  })
  .meta({ id: "Advice" });

/** The outcomes of cards: the promise of each, and its result. */
export const outcomesSchema = z
  .object({
    currency: z.string(),
    outcomes: z.array(
      z
        .object({
          id: z.string().describe("The id of the card."),
          kind: cardKindSchema,
          subject,
          changedAt: time.describe("The first day after the change."),
          isMarked: z
            .boolean()
            .describe("True if a person marked the card as taken, false if the card ended by itself."),
          perHour: z
            .object({
              promised: decimal,
              before: decimal,
              after: decimal,
              expected: decimal.describe(
                "The cost before, changed as that of similar workloads has changed since then.",
              ),
              came: decimal.describe("The expected cost minus the cost after."),
              least: decimal.describe("The least of it on one day."),
              most: decimal,
            })
            .describe("The cost of the workload per hour of time."),
          days: z.number().int().describe("The whole days after the change."),
          similar: z.number().int().describe("The similar workloads that did not change."),
          verdict: z.enum(Object.keys(VERDICTS) as [Verdict, ...Verdict[]]),
        })
        .meta({ id: "AdviceOutcome" }),
    ),
  })
  .meta({ id: "AdviceOutcomes" });
