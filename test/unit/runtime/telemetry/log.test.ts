import { describe, expect, it } from "vitest";
import { serializeError } from "../../../../runtime/telemetry/log.ts";

describe("an error in a log", () => {
  it("has its message and its cause, and the text once if both have the same", () => {
    const cause = new Error("connect ECONNREFUSED");
    expect(serializeError(new Error("the server is away", { cause }))).toMatchObject({
      message: "the server is away: connect ECONNREFUSED",
    });
    expect(serializeError(new Error(cause.message, { cause }))).toMatchObject({ message: "connect ECONNREFUSED" });
  });

  it("has no constants of its class", () => {
    const written = serializeError(AbortSignal.abort().reason as Error);
    expect(Object.keys(written)).toEqual(["type", "message", "stack"]);
    expect(written).toMatchObject({ type: "AbortError", message: "This operation was aborted" });
  });
});
