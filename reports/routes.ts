import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { isBehind } from "../domain/charge/settling.ts";
import type { ConfiguredDelivery } from "../runtime/config/deliveries.ts";
import type { FocusConfig } from "../runtime/config/focus.ts";
import type { Ledger } from "../runtime/config/ledger.ts";
import type { PracticesConfig } from "../runtime/config/practices.ts";
import type { TrainingMetrics } from "../domain/training/metrics.ts";
import type { TrainingConfig } from "../runtime/config/training.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { recordAudit } from "./access/audit.ts";
import { addSignIn } from "./sign-in/routes.ts";
import type { People } from "./sign-in/people.ts";
import type { Access } from "./server/access.ts";
import { addApi } from "./api/api.ts";
import type { ApiContext } from "./api/context.ts";
import type { ReadAlerts } from "./firing-alerts.ts";
import type { Closing } from "./closing.ts";
import { createPages } from "./pages/routes.ts";
import { createAnswers } from "./server/answers.ts";
import { createLedgerVersions } from "./server/ledger-version.ts";
import { createRemembered } from "./server/remembered.ts";
import { prepareServer } from "./server/server.ts";
import { createSums } from "./sums/sums.ts";

/** The dependencies of the reports' server. */
export interface ReportsOptions {
  readonly store: StoreClient;
  readonly ledger: Ledger;
  readonly closing: Closing;
  /** Reads the firing alerts; absent if no Prometheus is configured. */
  readonly readAlerts?: ReadAlerts;
  readonly focus: FocusConfig;
  readonly practices: PracticesConfig;
  readonly training: TrainingConfig;
  readonly trainingMetrics: TrainingMetrics;
  readonly deliveries: readonly ConfiguredDelivery[];
  /** A text that changes with the rules of the ledger. */
  readonly rules: string;
  readonly access: Pick<Access, "authenticate">;
  /** The sign-in of people; absent if only tokens are accepted. */
  readonly people?: People | undefined;
  readonly logger: Logger;
  readonly version: string;
  /** True if the fleet is the synthetic one. */
  readonly isDemo: boolean;
  readonly now: () => number;
  readonly env: NodeJS.ProcessEnv;
  /** Returns the starts of ended hours that wait to be charged; absent if they are unknown here. */
  readonly hoursWaiting?: () => readonly number[];
  /** The limit of requests of one address in a minute. */
  readonly requestsPerMinute?: number;
}

/** A limit above the needs of any dashboard or program. */
const REQUESTS_PER_MINUTE = 60_000;

const REMEMBERED_BYTES = 128 * 1024 * 1024;

/** Adds everything that `reports/` serves to a server whose routes are guarded, or to a part of one. */
export async function addReports(server: FastifyInstance, options: ReportsOptions): Promise<void> {
  const { store, ledger, focus, practices, training, deliveries, rules, access, logger, version, isDemo, now, env } =
    options;
  const { trainingMetrics, hoursWaiting = () => [] } = options;
  const pages = createPages({
    version,
    isDemo,
    isListPriced: ledger.book.isList === true,
    proxy: options.people?.proxy,
  });
  const { requestsPerMinute = REQUESTS_PER_MINUTE } = options;
  const signIn = options.people?.signIn;
  await prepareServer(server, { logger, requestsPerMinute, signIn, problemPage: pages.problem });
  const record = recordAudit(store, now);
  if (signIn !== undefined) addSignIn(server, signIn, { record, logger });
  const ledgerVersions = createLedgerVersions(
    store,
    () => `${rules} ${isBehind(hoursWaiting()) ? hoursWaiting().join(" ") : ""}`,
    now,
  );
  const answers = createAnswers({
    store,
    ledgerVersions,
    remembered: createRemembered(REMEMBERED_BYTES),
    record,
    now,
  });
  const sums = createSums(store, { logger, now });
  const closing = new AbortController();
  const watching = ledgerVersions.watch((ledgerVersion) => sums.prepare(ledgerVersion), closing.signal);
  server.addHook("onClose", async () => {
    closing.abort();
    await sums.stop();
    await watching;
  });
  const context: ApiContext = {
    store,
    closing: options.closing,
    readAlerts: options.readAlerts ?? (() => Promise.resolve(undefined)),
    ledger,
    answers,
    sums,
    now,
    hoursWaiting,
    version,
    env,
    focus,
    practices,
    training,
    trainingMetrics,
    deliveries,
    record,
    logger,
  };
  await addApi(server, context);
  await pages.add(server, context, { access, signIn });
}
