import { describe, expect, it } from "vitest";
import { createThrottle } from "../../../../reports/access/throttle.ts";

describe("wrong tokens", () => {
  it("block their address for the next minute, and no other", () => {
    const throttle = createThrottle({ failures: 3 });
    for (const millis of [0, 10_000]) throttle.failed("10.0.0.1", millis);
    expect(throttle.isBlocked("10.0.0.1", 20_000)).toBe(false);
    throttle.failed("10.0.0.1", 20_000);
    expect(throttle.isBlocked("10.0.0.1", 59_999)).toBe(true);
    expect(throttle.isBlocked("10.0.0.2", 59_999)).toBe(false);
    expect(throttle.isBlocked("10.0.0.1", 60_000)).toBe(false);
    throttle.failed("10.0.0.1", 60_000);
    expect(throttle.isBlocked("10.0.0.1", 60_000)).toBe(false);
  });

  it("count together for all addresses of one machine", () => {
    const throttle = createThrottle({ failures: 2 });
    throttle.failed("2001:db8::1", 0);
    throttle.failed("2001:0db8:0:0:ffff::2", 0);
    expect(throttle.isBlocked("2001:db8:0:0:1:2:3:4%eth0", 1)).toBe(true);
    expect(throttle.isBlocked("2001:db8:0:1::1", 1)).toBe(false);
    throttle.failed("::ffff:10.0.0.1", 0);
    throttle.failed("10.0.0.1", 0);
    expect(throttle.isBlocked("::ffff:10.0.0.1", 1)).toBe(true);
    expect(throttle.isBlocked("::ffff:10.0.0.2", 1)).toBe(false);
  });

  it("are remembered for a limited number of addresses: the oldest minute is removed", () => {
    const throttle = createThrottle({ failures: 1, addresses: 3 });
    ["a", "b", "c"].forEach((address, millis) => throttle.failed(address, millis));
    throttle.failed("a", 61_000);
    throttle.failed("d", 61_001);
    const blocked = ["a", "b", "c", "d"].filter((address) => throttle.isBlocked(address, 59_000));
    expect(blocked).toEqual(["a", "c", "d"]);
  });
});
