import type { Logger } from "pino";
import type { StoreClient } from "../../runtime/store/client.ts";
import { pause } from "../../runtime/clock.ts";
import { DeliveryError } from "./error.ts";
import { holdsClaim, renewClaim, type Claim, type Occasion } from "./records.ts";

/** The dependencies of a lease. */
export interface LeaseContext {
  readonly store: StoreClient;
  readonly now: () => number;
  readonly who: string;
  readonly logger: Logger;
  readonly leaseMillis: number;
}

/** The lease of an attempt. It is renewed during the work. */
export interface Lease {
  /** Aborted when the lease has ended: another server may have the attempt. */
  readonly lost: AbortSignal;
  /** The end of the lease, milliseconds since the epoch. */
  readonly until: number;
  /** Confirms that this server has the attempt, for a whole lease from now on. Fails with a {@link DeliveryError} or a `StoreError`. */
  confirm(): Promise<void>;
  /** Releases the lease. */
  end(): Promise<void>;
}

/** The number of renewals in one lease. */
const RENEWALS = 4;

/** Holds the lease of a claim until it is ended. */
export function holdLease(context: LeaseContext, occasion: Occasion, claimed: Claim): Lease {
  const { store, now, who, logger, leaseMillis } = context;
  const ended = new AbortController();
  const lost = new AbortController();
  let claim = claimed;

  async function renew(): Promise<void> {
    const renewed = await renewClaim(store, occasion, claim, { at: now(), who, leaseMillis });
    // A renewal that was acknowledged after the end of the old lease may have been too late for other servers.
    if (now() < claim.leaseUntil) claim = renewed;
  }

  async function keep(): Promise<void> {
    while (!ended.signal.aborted) {
      await pause(leaseMillis / RENEWALS, ended.signal);
      if (ended.signal.aborted) return;
      await renew().catch((error: unknown) => logger.warn({ err: error }, "a lease could not be renewed"));
      if (now() >= claim.leaseUntil) return lost.abort(leaseLost());
    }
  }

  const keeping = keep();
  return {
    lost: lost.signal,
    get until() {
      return claim.leaseUntil;
    },
    async confirm() {
      if (now() < claim.leaseUntil) await renew();
      if (now() >= claim.leaseUntil || !(await holdsClaim(store, occasion, claim))) throw leaseLost();
    },
    async end() {
      ended.abort();
      await keeping;
    },
  };
}

function leaseLost(): DeliveryError {
  return new DeliveryError("lease-lost", "the lease ended before the delivery was sent: another server can have it");
}
