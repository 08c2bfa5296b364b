import { expect, it } from "vitest";
import { labelOfDimension, readDimensions } from "../../../../domain/charge/dimension.ts";

it("dimensions, including labels, are read by their names", () => {
  expect(readDimensions("team, label.run-id,gpuModel")).toEqual({ by: ["team", "label.run-id", "gpuModel"] });
  expect(readDimensions("teem")).toMatchObject({
    error: expect.stringMatching(/^"teem" is not one of: team, /) as string,
  });
  expect(readDimensions("")).toMatchObject({ error: expect.stringMatching(/^"" is not one of/) as string });
  expect(readDimensions("label.")).toMatchObject({
    error: expect.stringMatching(/^"label\." is not one of/) as string,
  });
  expect(readDimensions("team,team")).toEqual({ error: "team is given twice" });
  expect(labelOfDimension("label.run-id")).toBe("run-id");
  expect(labelOfDimension("team")).toBeUndefined();
});
