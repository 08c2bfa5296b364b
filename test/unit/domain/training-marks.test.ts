import { describe, expect, it } from "vitest";
import { readTrainingMarks } from "../../../domain/training-marks.ts";
import { clock } from "../../support/training/pods.ts";

describe("the marks of a training", () => {
  it("are read from annotations, with times in ISO 8601 or in seconds", () => {
    const marks = {
      "gpu-ledger/step": "1200",
      "gpu-ledger/checkpoint-at": "2026-03-02T09:00:00+01:00",
      "gpu-ledger/checkpoint-seconds": "42.5",
      "gpu-ledger/checkpoint-every-seconds": "1800",
      "gpu-ledger/tokens-per-step": "4194304",
      "gpu-ledger/tokens-per-second": "1.2e6",
      "gpu-ledger/parameters": "7e9",
      team: "vision",
    };
    expect(readTrainingMarks(marks)).toEqual({
      step: 1200,
      checkpointAt: clock("08:00"),
      checkpointSeconds: 42.5,
      checkpointEverySeconds: 1800,
      tokensPerStep: 4_194_304,
      tokensPerSecond: 1_200_000,
      parameters: 7_000_000_000,
    });
    const seconds = String(clock("08:00") / 1000 + 0.25);
    expect(readTrainingMarks({ "gpu-ledger/checkpoint-at": seconds })).toEqual({ checkpointAt: clock("08:00") + 250 });
  });

  it("are absent without a mark of a valid form", () => {
    expect(readTrainingMarks({ team: "vision" })).toBeUndefined();
    for (const [name, value] of [
      ["step", "12.5"],
      ["step", "-1"],
      ["step", "1e30"],
      ["step", "0x10"],
      ["step", " 5"],
      ["checkpoint-at", "2026-03-02"],
      ["checkpoint-at", "2026-13-02T00:00:00Z"],
      ["checkpoint-at", "0"],
      ["checkpoint-at", "0001-01-01T00:00:00Z"],
      ["checkpoint-at", "9999-01-01T00:00:00Z"],
      ["checkpoint-at", "1e15"],
      ["checkpoint-seconds", "0"],
      ["tokens-per-second", "Infinity"],
      ["parameters", "7B"],
    ] as const)
      expect([name, readTrainingMarks({ [`gpu-ledger/${name}`]: value })]).toEqual([name, undefined]);
  });
});
