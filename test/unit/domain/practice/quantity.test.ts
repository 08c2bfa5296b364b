import { expect, it } from "vitest";
import { cpuText, memoryText, roundCpu, roundMemory } from "../../../../domain/practice/quantity.ts";

it.each([
  [68_719_476_736, "64Gi", "64Gi"],
  [68_719_476_737, "65537Mi", "64Gi"],
  [1_610_612_736, "1536Mi", "1Gi"],
  [1_073_741_823, "1Gi", "1023Mi"],
])("%d bytes of memory are %s, rounded down %s", (bytes, text, rounded) => {
  expect([memoryText(bytes), memoryText(roundMemory(bytes))]).toEqual([text, rounded]);
});

it.each([
  [12_000, "12", "12"],
  [1_500, "1500m", "1"],
  [999.9, "999.9m", "999m"],
])("%d thousandths of a core are %s, rounded down %s", (millicores, text, rounded) => {
  expect([cpuText(millicores), cpuText(roundCpu(millicores))]).toEqual([text, rounded]);
});
