import { columnsOf, type RowOf } from "./table.ts";
import { arrayOf, bool, longText, manyTexts, moment, text, uint16, uint32, wideUint64 } from "./types.ts";

const OF_SLOT = {
  cluster: text,
  node: text,
  slot: uint16,
  from_at: moment,
  until_at: moment,
  gpu_key: manyTexts,
  gpu_at: text,
  place: manyTexts,
  because: text,
  cordoned: bool,
  busy_ms: uint32,
  energy_mj: wideUint64,
  energy_covered_ms: uint32,
};

/** These columns have an element for each claim on the slot. */
const OF_CLAIMS = {
  holders: arrayOf(longText),
  claims: arrayOf(longText),
  samples: arrayOf(uint32),
  first_at: arrayOf(moment),
  last_at: arrayOf(moment),
  covered_ms: arrayOf(uint32),
  active_ms: arrayOf(uint32),
  activity_ppm_ms: arrayOf(wideUint64),
  activity_at_claims_ppm_ms: arrayOf(wideUint64),
  activity_max_ppm: arrayOf(uint32),
  memory_max_mib: arrayOf(uint32),
  has_process: arrayOf(bool),
  process_at_claim_ppm_ms: arrayOf(wideUint64),
  process_at_occupant_ppm_ms: arrayOf(wideUint64),
  process_ppm_ms: arrayOf(wideUint64),
};

/** A row of `usage_hours` without its run. */
export type UsageRow = RowOf<typeof OF_SLOT & typeof OF_CLAIMS>;

/** The columns of `usage_hours` with one value per slot, without the run's. */
export const SLOT_COLUMNS = columnsOf(OF_SLOT);

/** The columns of `usage_hours` with an element for each claim. */
export const CLAIM_COLUMNS = columnsOf(OF_CLAIMS);

/** The columns of `usage_hours` without the run's. */
export const USAGE_COLUMNS = [...SLOT_COLUMNS, ...CLAIM_COLUMNS];
