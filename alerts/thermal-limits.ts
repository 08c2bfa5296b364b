/** Temperatures of a model at which something happens, in degrees; T.Limit margins where newer models count down to 0. */
export interface ThermalLimits {
  /** A matcher of `modelName`. */
  readonly models: string;
  readonly maxOperating?: number;
  readonly slowdown?: number;
  readonly memoryMaxOperating?: number;
  /** The margin at which the hardware slows down. */
  readonly slowdownMargin?: number;
}

/** A model's name as a word of its own: an A100, not an A1000. */
const models = (pattern: string): string => `modelName=~"(.*[^A-Za-z0-9])?(${pattern})([^A-Za-z0-9].*)?"`;

/**
 * Limits by model, as `nvidia-smi -q -d TEMPERATURE` prints them. For B200, L40, GB200 and GB300 only the slowdown margin is known. A limit
 * that a model does not have is not checked.
 */
export const THERMAL_LIMITS: readonly ThermalLimits[] = [
  { models: models("P100"), slowdown: 82 },
  { models: models("V100"), maxOperating: 83, slowdown: 87 },
  { models: models("T4"), maxOperating: 85, slowdown: 93 },
  { models: models("A10G"), maxOperating: 88, slowdown: 95 },
  { models: models("A100"), maxOperating: 85, slowdown: 89, memoryMaxOperating: 95 },
  { models: models("H100|H200|L40S?|GB200|GB300"), slowdownMargin: -2 },
  { models: models("B200"), slowdownMargin: -3 },
];

/** The margin at which models slow down that the table does not name. */
export const USUAL_SLOWDOWN_MARGIN = -2;
