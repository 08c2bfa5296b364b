import { ClickHouseError } from "@clickhouse/client";
import { describe, expect, it } from "vitest";

import { storeErrorOf } from "../../../../runtime/store/client-error.ts";
import { StoreError } from "../../../../runtime/store/store-error.ts";

const fromServer = (code: number, message = "text") =>
  storeErrorOf(new ClickHouseError({ code: String(code), message, type: "NAME" }));
const fromSocket = (code: string) => storeErrorOf(Object.assign(new Error(code), { code }));

describe("errors of the store", () => {
  it("get a code, and whether a retry can help, from ClickHouse's number", () => {
    expect(fromServer(60)).toMatchObject({ code: "not-migrated", retriable: false });
    expect(fromServer(27)).toMatchObject({ code: "rejected", retriable: false });
    expect(fromServer(516)).toMatchObject({ code: "denied", retriable: false });
    expect(fromServer(202)).toMatchObject({ code: "overloaded", retriable: true });
    expect(fromServer(241)).toMatchObject({ code: "overloaded", retriable: true });
    expect(fromServer(243)).toMatchObject({ code: "disk-full", retriable: true });
    expect(fromServer(159)).toMatchObject({ code: "timeout", retriable: true });
    expect(fromServer(999)).toMatchObject({ code: "unavailable", retriable: true });
  });

  it("distinguish too many parts, which passes, from one insert into too many partitions, which does not", () => {
    expect(fromServer(252, "Too many parts (300)")).toMatchObject({ code: "overloaded", retriable: true });
    expect(fromServer(252, "Too many partitions for single INSERT block")).toMatchObject({
      code: "rejected",
      retriable: false,
    });
  });

  it("have the code unavailable or timeout if the socket failed", () => {
    expect(fromSocket("ECONNREFUSED")).toMatchObject({ code: "unavailable", retriable: true });
    expect(fromSocket("ECONNRESET")).toMatchObject({ code: "unavailable", retriable: true });
    expect(storeErrorOf(new Error("socket hang up"))).toMatchObject({ code: "unavailable", retriable: true });
    expect(storeErrorOf(new Error("Timeout error."))).toMatchObject({ code: "timeout", retriable: true });
  });

  it("have the code unavailable if another program answers, and rejected for a bug of ours", () => {
    const page = "<html><body><h1>502 Bad Gateway</h1></body></html>";
    expect(storeErrorOf(new Error(page))).toMatchObject({ code: "unavailable", retriable: true });
    expect(storeErrorOf(new TypeError("x is not a function"))).toMatchObject({ code: "rejected", retriable: false });
  });

  it("keep their cause, and stay the same when they are converted twice", () => {
    const cause = new Error("socket hang up");
    const error = storeErrorOf(cause);
    expect(error.cause).toBe(cause);
    expect(storeErrorOf(error)).toBe(error);
    expect(error).toBeInstanceOf(StoreError);
  });
});
