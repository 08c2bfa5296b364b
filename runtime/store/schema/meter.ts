import { columnsOf, type RowOf } from "./table.ts";
import { int64, longText, manyTexts, moment, text, uint16, uint32 } from "./types.ts";

const PLAN = {
  run: longText,
  series: text,
  ordinal: uint32,
  node: manyTexts,
  gpu_key: manyTexts,
  instance: manyTexts,
  pod: manyTexts,
  from_ms: int64,
  until_ms: int64,
  since_ms: int64,
  claim_ppm: uint32,
  claims_ppm: uint32,
  occupant_ppm: uint32,
};

/** A row of `meter_plan`: a part of a device and of time that the meter measures. */
export type PlanRow = RowOf<typeof PLAN>;

/** The columns of `meter_plan`. */
export const PLAN_COLUMNS = columnsOf(PLAN);

const PROOFS = {
  cluster: text,
  node: text,
  namespace: text,
  pod: manyTexts,
  pod_uid: manyTexts,
  slot: uint16,
  instance: text,
  seen_at: moment,
};

/** A row of `label_proofs`: a device on which a label has shown a pod. */
export type ProofRow = RowOf<typeof PROOFS>;

/** The columns of `label_proofs`. */
export const PROOF_COLUMNS = columnsOf(PROOFS);
