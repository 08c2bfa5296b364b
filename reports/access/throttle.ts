import { isIPv6 } from "node:net";
import { MINUTE_MILLIS } from "../../domain/time.ts";

/** Who may go on trying. Times are milliseconds since any start that does not change. */
export interface Throttle {
  /** Whether so many attempts of an address have failed within a minute that it has to wait for the next one. */
  isBlocked(address: string, nowMillis: number): boolean;
  /** An attempt has failed. */
  failed(address: string, nowMillis: number): void;
}

/**
 * Counts failures by address, for a minute from the first. An address of IPv6 is its network of 64 bits, all of which one machine has. Of
 * more addresses than are remembered the one goes whose minute began first.
 */
export function createThrottle({ failures = 20, addresses = 10_000 } = {}): Throttle {
  const minutes = new Map<string, { readonly since: number; failures: number }>();
  return {
    isBlocked(address, nowMillis) {
      const minute = minutes.get(networkOf(address));
      return minute !== undefined && nowMillis - minute.since < MINUTE_MILLIS && minute.failures >= failures;
    },
    failed(address, nowMillis) {
      const network = networkOf(address);
      const minute = minutes.get(network);
      if (minute !== undefined && nowMillis - minute.since < MINUTE_MILLIS) {
        minute.failures += 1;
        return;
      }
      // Anew at the end, so that the order of the map is that of the minutes.
      minutes.delete(network);
      const [oldest] = minutes.keys();
      if (minutes.size >= addresses && oldest !== undefined) minutes.delete(oldest);
      minutes.set(network, { since: nowMillis, failures: 1 });
    },
  };
}

function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
