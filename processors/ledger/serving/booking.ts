/** The booking of charges: the run, the policy and the billing period. */
export interface Booking {
  readonly run: string;
  readonly policy: string;
  /** The start of the billing period, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines the charges correct; absent if they correct nothing. */
  readonly corrects?: string;
}
