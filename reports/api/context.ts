import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import type { FocusConfig } from "../../runtime/config/focus.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";
import type { Filter } from "../question/question.ts";
import type { Answers } from "../server/answers.ts";
import { Problem } from "../server/problem.ts";
import type { Sums } from "../sums/sums.ts";

/** What the routes of the API answer from. */
export interface ApiContext {
  readonly store: StoreClient;
  readonly ledger: Ledger;
  readonly answers: Answers;
  readonly sums: Sums;
  readonly now: () => number;
  /** How many hours that are over wait to be charged; 0 where nobody here knows. */
  readonly hoursWaiting: () => number;
  readonly version: string;
  /** Whom the rows of FOCUS name. */
  readonly focus: FocusConfig;
  /** What is delivered on a schedule. */
  readonly deliveries: readonly ConfiguredDelivery[];
  /** Writes down what somebody took along. Fails with a `StoreError`: what can't be written down is not handed out. */
  readonly audit: (viewer: Viewer, subject: string) => Promise<void>;
}

/** The conditions of a question, narrowed to what a viewer may see: a team that it may not see is one without charges. */
export function allowed(where: readonly Filter[], { teams }: Viewer): readonly Filter[] {
  return teams === "all" ? where : [...where, { dimension: "team", values: teams }];
}

/** Fails with a {@link Problem} where somebody asks for what shows the figures of all teams, and may not see them. */
export function demandAll({ teams }: Viewer): void {
  if (teams !== "all") throw new Problem("not-allowed", "this is of all teams: finance and administrators see it");
}

/** The policies whose charges are kept, the billing one first. */
export function keptPolicies({ policies }: Ledger): readonly string[] {
  return policies.filter(({ keep }, place) => keep || place === 0).map(({ name }) => name);
}

/** The policy that is asked by: the billing one where none is named. Fails with a {@link Problem} for one that is not kept. */
export function policyOf(ledger: Ledger, name: string | undefined): string {
  const kept = keptPolicies(ledger);
  if (name === undefined) return kept[0]!;
  if (kept.includes(name)) return name;
  const message = `one whose charges are kept: ${kept.join(", ")}`;
  throw new Problem("wrong-parameter", `policy: ${message}`, [{ parameter: "policy", message }]);
}
