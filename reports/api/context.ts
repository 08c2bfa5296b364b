import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import type { FocusConfig } from "../../runtime/config/focus.ts";
import type { PracticesConfig } from "../../runtime/config/practices.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import type { TrainingConfig } from "../../runtime/config/training.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { Logger } from "pino";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ReadAlerts } from "../firing-alerts.ts";
import type { Closing } from "../closing.ts";
import type { RecordAudit } from "../access/audit.ts";
import type { Viewer } from "../access/viewer.ts";
import type { Filter } from "../question/question.ts";
import type { Answers } from "../server/answers.ts";
import { Problem } from "../question/problem.ts";
import type { Sums } from "../sums/sums.ts";

/** The dependencies of the API's routes. */
export interface ApiContext {
  readonly ledger: Ledger;
  readonly store: StoreClient;
  readonly closing: Closing;
  readonly readAlerts: ReadAlerts;
  readonly answers: Answers;
  readonly sums: Sums;
  readonly now: () => number;
  /** Returns the starts of ended hours that wait to be charged; none if they are unknown here. */
  readonly hoursWaiting: () => readonly number[];
  readonly version: string;
  /** The environment of the process, in which Chromium is found. */
  readonly env: NodeJS.ProcessEnv;
  /** The names for the rows of FOCUS. */
  readonly focus: FocusConfig;
  /** The checks of practices that are off, and the days of their money. */
  readonly practices: PracticesConfig;
  /** The rules for training runs. */
  readonly training: TrainingConfig;
  readonly trainingMetrics: TrainingMetrics;
  /** The deliveries on a schedule. */
  readonly deliveries: readonly ConfiguredDelivery[];
  /** Records exports in the audit trail. An export that cannot be recorded is refused. */
  readonly record: RecordAudit;
  readonly logger: Logger;
}

/**
 * Returns the conditions of a question, limited to what a viewer may see. A team that the viewer may not see appears as a team without
 * charges.
 */
export function allowed(where: readonly Filter[], { teams }: Viewer): readonly Filter[] {
  return teams === "all" ? where : [...where, { dimension: "team", values: teams }];
}

/** Returns the policies whose charges are kept, the billing policy first. */
export function keptPolicies({ policies }: Ledger): readonly string[] {
  return policies.filter(({ keep }, index) => keep || index === 0).map(({ name }) => name);
}

/** Returns the policy of a question: the billing policy if none is named. Fails with a {@link Problem} for a policy that is not kept. */
export function policyOf(ledger: Ledger, name: string | undefined): string {
  const kept = keptPolicies(ledger);
  if (name === undefined) return kept[0]!;
  if (kept.includes(name)) return name;
  const message = `a policy with kept charges: ${kept.join(", ")}`;
  throw new Problem("wrong-parameter", `policy: ${message}`, [{ parameter: "policy", message }]);
}
