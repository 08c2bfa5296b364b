import type { ResourceNames } from "../collectors/kubernetes/projection/gpu-resource.ts";
import { DEFAULT_POLICY } from "../domain/policy/policy.ts";
import type { Finding } from "../domain/practice/check.ts";
import { chargeHour, type HourRules } from "./charges.ts";
import { factsOf } from "./facts.ts";
import { fleetOf, type FleetLine } from "./fleet.ts";
import { holdersOf, type Holding } from "./holders.ts";
import { practicesOf } from "./practices.ts";
import { recordsOf } from "./records.ts";
import { samplesOf } from "./samples.ts";
import type { Seen, Unseen } from "./seen.ts";
import { spendOf, type TeamSpend, type Total } from "./spend.ts";
import { unseenOf } from "./unseen.ts";
import { wastesOf, type Waste } from "./wastes.ts";

/** The state of a cluster's GPUs at a moment, and its cost per hour as long as the state lasts. Amounts are exact. */
export interface Snapshot {
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly atMillis: number;
  readonly currency: string;
  /** The physical GPUs by model and by the source of their count. */
  readonly fleet: readonly FleetLine[];
  readonly total: Total;
  /** By team and state, highest cost first. */
  readonly teams: readonly TeamSpend[];
  /** The workloads with GPUs, highest cost first. */
  readonly holders: readonly Holding[];
  /** The largest wastes of this moment, highest cost first. */
  readonly wastes: readonly Waste[];
  /** The findings of the practices that one moment can show. Their money is that of a month. */
  readonly practices: readonly Finding[];
  readonly unseen: readonly Unseen[];
  /** Sentences about objects that look wrong. */
  readonly remarks: readonly string[];
}

/** The rules by which a snapshot is charged and named. */
export interface SnapshotRules extends Omit<HourRules, "policy"> {
  readonly cluster: string;
  readonly resourceNames: ResourceNames;
}

/** The most wastes that a snapshot names. */
const MOST_WASTES = 5;

/** Returns the snapshot of everything that was seen, charged by the default policy: holders pay for what they hold, the platform for the rest. */
export function snapshotOf(seen: Seen, rules: SnapshotRules): Snapshot {
  const { cluster, owners, book } = rules;
  const { atMillis } = seen;
  const facts = factsOf(seen, rules);
  const { samples, silent } = samplesOf(seen, cluster);
  const records = recordsOf(facts, samples, { cluster, atMillis });
  const { usage, charges } = chargeHour(records, samples, { book, owners, policy: DEFAULT_POLICY, atMillis });
  const holders = holdersOf(usage, charges);
  return {
    cluster,
    atMillis,
    currency: book.currency,
    fleet: fleetOf(usage),
    ...spendOf(charges),
    holders,
    wastes: wastesOf(charges, holders).slice(0, MOST_WASTES),
    practices: practicesOf(facts, { charges, samples, silent, owners, atMillis }),
    unseen: unseenOf(seen.unseen, { silent, samples, usage, charges }),
    remarks: facts.remarks,
  };
}
