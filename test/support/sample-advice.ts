import type { Card, CardKind } from "../../domain/advice/card.ts";
import { amountOf, type Money } from "../../domain/exact/units.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import { keepCards } from "../../processors/ledger/advice/keep-cards.ts";
import type { Advice } from "../../processors/ledger/advice/make-cards.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { HOSTILE } from "./pages-fleet.ts";

const DAYS = 7;

/** The end of the window of the sample cards. */
export const ADVICE_UNTIL = Date.UTC(2026, 2, 31);

/** The ids of the sample cards. */
export const CARDS = {
  vision: "0000000a11ce",
  nlp: "0000000000b1",
  odd: "0000000000c2",
  nodes: "0000000000d3",
} as const;

/** The owner's saving of each sample card in seven days. */
const OWNER = { vision: "168", nlp: "84.000000001", odd: "10", nodes: "336" } as const;

const money = (text: string): Money => amountOf<"currency">(text);
const ZERO = money("0");

/** Cards of vision, of nlp, of a team with markup in its name, and of free nodes of the platform. */
export function sampleAdvice(until = ADVICE_UNTIL): Advice {
  const window = { from: until - DAYS * DAY_MILLIS, until };
  const card = (of: keyof typeof CARDS, kind: CardKind, team: string, more: Partial<Card> = {}): Card => {
    const owner = money(OWNER[of]);
    return {
      id: CARDS[of],
      kind,
      subject: {
        cluster: "prod",
        namespace: of,
        kind: "Job",
        workload: "train",
        team,
        type: "training",
        pool: "",
        model: "",
      },
      changes: [{ release: { cluster: "prod", namespace: of, kind: "Job", workload: "train" } }],
      from: window.from + DAY_MILLIS,
      figures: [{ name: "Highest activity in 5 minutes", value: "0.4 %" }],
      remedy: { what: `Stop the job train of ${of}.`, lines: `kubectl -n ${of} delete job/train` },
      risks: ["State that is only in memory is lost."],
      doubts: ["The evidence is from 7 days. Peaks that come once a month are not in it."],
      window,
      currency: "USD",
      saving: { owner, freed: owner, organization: ZERO, organizationIfFreedLeave: owner },
      lines: [
        { team, state: "idle", was: owner, otherwise: ZERO },
        { team: "platform", state: "unallocated", was: ZERO, otherwise: owner },
      ],
      alternatives: [{ kind: "smaller-part", what: "Request a MIG instance 1g.10gb.", owner: money("7.5") }],
      hours: hoursOf(DAYS * 24),
      ...more,
    };
  };
  const { hours: _, ...nodes } = card("nodes", "empty-nodes", "platform", {
    subject: {
      cluster: "prod",
      namespace: "",
      kind: "",
      workload: "",
      team: "platform",
      type: "",
      pool: "spot",
      model: "L4",
    },
    changes: [{ remove: { cluster: "prod", node: ["gpu-x"] }, nodes: 1 }],
    saving: {
      owner: money("336"),
      freed: money("-336"),
      organization: money("336"),
      organizationIfFreedLeave: money("336"),
    },
    lines: [{ team: "platform", state: "unallocated", was: money("336"), otherwise: ZERO }],
    alternatives: [],
    doubts: [],
  });
  return {
    window,
    cards: [
      nodes,
      card("vision", "idle-workload", "vision"),
      card("nlp", "fewer-replicas", "nlp"),
      card("odd", "off-hours", HOSTILE, {
        remedy: { what: `Stop ${HOSTILE}.`, lines: `echo ${HOSTILE}` },
        // GPUs that are free for some hours cannot leave.
        saving: {
          owner: money(OWNER.odd),
          freed: money(OWNER.odd),
          organization: ZERO,
          organizationIfFreedLeave: ZERO,
        },
      }),
    ],
    workloads: 9,
    refusals: { coverage: 2, days: 3 },
  };
}

/** Hours in which the activity rises by 0.1 % an hour, with a gap without samples and an hour without devices. */
function hoursOf(count: number): NonNullable<Card["hours"]> {
  const each = (of: (hour: number) => number): readonly number[] =>
    Array.from({ length: count }, (_, hour) => (hour > 20 && hour < 30 ? -1 : of(hour)));
  return {
    mean: each((hour) => hour / 10),
    max: each((hour) => Math.min(100, hour / 5)),
    memoryMiB: each((hour) => 1_000 + hour),
    devices: each((hour) => (hour === 0 ? 0 : 2)).map((devices) => Math.max(0, devices)),
  };
}

/** Stores the sample cards of a window. */
export async function keepSampleAdvice(store: StoreClient, until = ADVICE_UNTIL): Promise<Advice> {
  const advice = sampleAdvice(until);
  await keepCards(store, advice, { basis: `until ${until}`, madeAt: until + HOUR_MILLIS, seconds: 12.5 });
  return advice;
}
