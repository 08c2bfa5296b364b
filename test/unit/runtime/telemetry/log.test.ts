import { describe, expect, it } from "vitest";
import { serializeError } from "../../../../runtime/telemetry/log.ts";

describe("an error in a log", () => {
  it("says with its message what caused it, and once where both say the same", () => {
    const cause = new Error("connect ECONNREFUSED");
    expect(serializeError(new Error("the server is away", { cause }))).toMatchObject({
      message: "the server is away: connect ECONNREFUSED",
    });
    expect(serializeError(new Error(cause.message, { cause }))).toMatchObject({ message: "connect ECONNREFUSED" });
  });
});
