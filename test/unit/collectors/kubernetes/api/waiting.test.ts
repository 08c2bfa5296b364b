import { describe, expect, it } from "vitest";
import { apiErrorOf } from "../../../../../collectors/kubernetes/api/api-error.ts";
import { createApiBackOff } from "../../../../../collectors/kubernetes/api/api-back-off.ts";
import { createServerClock } from "../../../../../collectors/kubernetes/api/server-clock.ts";

describe("the pauses between attempts", () => {
  it("double from 0.8 to 30 s, are drawn from their upper half, and start again after a success", () => {
    const longest = createApiBackOff(() => 1);
    expect(Array.from({ length: 8 }, () => longest.next())).toEqual([
      800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000,
    ]);
    const shortest = createApiBackOff(() => 0);
    expect([shortest.next(), shortest.next()]).toEqual([400, 800]);
    shortest.reset();
    expect(shortest.next()).toBe(400);
  });

  it("are never shorter than the server's Retry-After", () => {
    expect(createApiBackOff(() => 0).next(7_000)).toBe(7_000);
  });
});

describe("an error answer", () => {
  it("has the server's own message, a code, and the requested pause", () => {
    const body = JSON.stringify({ kind: "Status", message: 'pods is forbidden: User "x" cannot list', code: 403 });
    expect(apiErrorOf(403, body)).toMatchObject({ code: "forbidden", retriable: false, message: /cannot list/ });
    expect(apiErrorOf(429, "", "3")).toMatchObject({
      code: "too-many-requests",
      retriable: true,
      retryAfterMillis: 3_000,
    });
    expect(apiErrorOf(410, "")).toMatchObject({ code: "gone", retriable: true });
    expect(apiErrorOf(500, "<html>")).toMatchObject({ code: "unavailable", message: "HTTP 500", status: 500 });
    expect(apiErrorOf(422, "")).toMatchObject({ code: "rejected", retriable: false });
    expect(apiErrorOf(429, "", "Wed, 21 Oct 2026 07:28:00 GMT")).toMatchObject({ retryAfterMillis: undefined });
  });
});

describe("the server's clock", () => {
  const now = Date.UTC(2026, 10, 21, 6, 0, 0);
  const clock = { nowMillis: () => now, monotonicMillis: () => 0 };

  it("is used if it differs by minutes", () => {
    const server = createServerClock(clock);
    server.observe(new Date(now + 300_000).toUTCString(), 40);
    expect(server.skewMillis).toBe(300_520);
    expect(server.nowMillis()).toBe(now + 300_520);
    server.observe(new Date(now - 300_000).toUTCString(), 40);
    expect(server.skewMillis).toBe(-299_480);
  });

  it("is replaced by this machine's if the difference is below the precision of a Date header, or if there is no Date", () => {
    const server = createServerClock(clock);
    server.observe(new Date(now + 1_000).toUTCString(), 40);
    server.observe(undefined, 40);
    server.observe("yesterday", 40);
    expect(server.skewMillis).toBe(0);
  });
});
