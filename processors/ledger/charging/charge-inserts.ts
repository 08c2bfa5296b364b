import type { Booking } from "../serving/booking.ts";
import type { Charge } from "../../../domain/charge/charge.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { CHARGE_COLUMNS } from "../../../runtime/store/schema/charges.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";

/** The approximate number of charges in one insert. */
const CHARGES_PER_INSERT = 50_000;

/** A writer of charges into the store, under a run that is not visible yet. */
export interface ChargeInserts {
  /** Encodes charges at once, so that none is kept in memory as an object. Waits only if two portions would be in flight. */
  add(charges: readonly Charge[]): Promise<void>;
  /** Resolves when everything that was added is inserted. */
  end(): Promise<void>;
}

/** Creates a writer that inserts charges in portions. While one portion is inserted, the next is encoded. Fails with a `StoreError`. */
export function createChargeInserts(store: StoreClient, booking: Booking): ChargeInserts {
  const { run, policy, billingPeriod, corrects = "" } = booking;
  const constants = { run_id: run, policy, billing_period: billingPeriod, corrects };
  const charged = createBlocks<Charge>([RUN_ID, ...CHARGE_COLUMNS], constants);
  let inserted: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const body = charged.take();
    await inserted;
    inserted = store.insertRows("charges", namesOf(charged.columns), body).then(() => {});
    // If the caller stops early, a failure of the unused insert is ignored.
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

/** Inserts a complete list of charges. Fails with a `StoreError`. */
export async function insertCharges(store: StoreClient, booking: Booking, charges: readonly Charge[]): Promise<void> {
  const inserts = createChargeInserts(store, booking);
  await inserts.add(charges);
  await inserts.end();
}
