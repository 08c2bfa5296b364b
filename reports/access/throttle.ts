import { clientNetwork } from "../../runtime/http/networks.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

/** A limit on failed attempts. Times are milliseconds since any fixed start. */
export interface Throttle {
  /** Returns true if an address has reached the limit of failed attempts within a minute and has to wait. */
  isBlocked(address: string, nowMillis: number): boolean;
  /** Records a failed attempt. */
  failed(address: string, nowMillis: number): void;
}

/**
 * Counts failures by address, for a minute from the first. An IPv6 address counts as its network of 64 bits, because one machine has all of
 * them. If the number of addresses exceeds the limit, the address whose minute began first is removed.
 */
export function createThrottle({ failures = 20, addresses = 10_000 } = {}): Throttle {
  const minutes = new Map<string, { readonly since: number; failures: number }>();
  return {
    isBlocked(address, nowMillis) {
      const minute = minutes.get(clientNetwork(address));
      return minute !== undefined && nowMillis - minute.since < MINUTE_MILLIS && minute.failures >= failures;
    },
    failed(address, nowMillis) {
      const network = clientNetwork(address);
      const minute = minutes.get(network);
      if (minute !== undefined && nowMillis - minute.since < MINUTE_MILLIS) {
        minute.failures += 1;
        return;
      }
      // Added at the end, so that the map has the order of the minutes.
      minutes.delete(network);
      const [oldest] = minutes.keys();
      if (minutes.size >= addresses && oldest !== undefined) minutes.delete(oldest);
      minutes.set(network, { since: nowMillis, failures: 1 });
    },
  };
}
