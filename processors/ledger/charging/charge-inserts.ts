import type { Charge } from "../../../domain/charge/charge.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { CHARGE_COLUMNS } from "../../../runtime/store/schema/charges.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";

/** Under what charges are booked. */
export interface Booking {
  readonly run: string;
  readonly policy: string;
  /** The beginning of the billing period, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines they correct; left out for charges that correct nothing. */
  readonly corrects?: string;
}

/** Charges are inserted in portions of about so many. */
const CHARGES_PER_INSERT = 50_000;

/** Charges on their way into the store, under a run that nobody sees yet. */
export interface ChargeInserts {
  /** Writes them out at once, so that no charge is held; waits only where two portions would be under way. */
  add(charges: readonly Charge[]): Promise<void>;
  /** Ends when all that was added is inserted. */
  end(): Promise<void>;
}

/** Inserts charges in portions: while one is inserted, the next is written. Fails with a `StoreError`. */
export function createChargeInserts(store: StoreClient, booking: Booking): ChargeInserts {
  const { run, policy, billingPeriod, corrects = "" } = booking;
  const constants = { run_id: run, policy, billing_period: billingPeriod, corrects };
  const charged = createBlocks<Charge>([RUN_ID, ...CHARGE_COLUMNS], constants);
  let inserted: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const body = charged.take();
    await inserted;
    inserted = store.insertRows("charges", namesOf(charged.columns), body).then(() => {});
    // Whoever stops in between hears of no failure of what was inserted for nothing.
    inserted.catch(() => {});
  }

  return {
    async add(charges) {
      for (const charge of charges) {
        charged.write(charge);
        if (charged.count >= CHARGES_PER_INSERT) await flush();
      }
    },
    async end() {
      if (charged.count > 0) await flush();
      await inserted;
    },
  };
}

/** Inserts charges that are all there. Fails with a `StoreError`. */
export async function insertCharges(store: StoreClient, booking: Booking, charges: readonly Charge[]): Promise<void> {
  const inserts = createChargeInserts(store, booking);
  await inserts.add(charges);
  await inserts.end();
}
