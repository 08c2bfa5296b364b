import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../runtime/config/load.ts";

const read = (yaml: string) => parseConfig(yaml, { source: "gpu-ledger.yaml", folder: ".", env: {} }).practices;

describe("the practices of a configuration", () => {
  it("are all on, with the charges of seven days, by default", () => {
    expect(read("")).toEqual({ days: 7, off: [] });
  });

  it("can be off by name", () => {
    expect(read("practices: { days: 14, off: [pool-unused] }")).toEqual({ days: 14, off: ["pool-unused"] });
  });

  it.each([
    [
      "an unknown check",
      "practices: { off: [pool-unused, good-weather] }",
      /practices\.off.*one of: gpu-node-without/s,
    ],
    ["no days", "practices: { days: 0 }", /practices\.days.*from 1 to 92/s],
    ["an unknown key", "practices: { on: [] }", /practices\.on/],
  ])("are refused with %s", (_, yaml, message) => {
    expect(() => read(yaml)).toThrow(message);
  });
});
