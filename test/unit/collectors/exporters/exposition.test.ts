import { describe, expect, it } from "vitest";
import { parseExposition } from "../../../../collectors/exporters/exposition/parse.ts";

const parse = (text: string) => parseExposition(Buffer.from(text));
const only = (text: string) => {
  const { samples, malformed } = parse(text);
  expect(malformed).toEqual([]);
  expect(samples).toHaveLength(1);
  return samples[0]!;
};

describe("the reference parser of the Prometheus text format", () => {
  it("reads name, labels and value", () => {
    const sample = only('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 42\n');
    expect(sample.name).toBe("DCGM_FI_DEV_GPU_UTIL");
    expect([...sample.labels]).toEqual([
      ["gpu", "0"],
      ["UUID", "GPU-1"],
    ]);
    expect(sample.value).toBe(42);
  });

  it("decodes every escape, and keeps an unknown backslash", () => {
    const { labels } = only('m{a="q\\"q",b="b\\\\s",c="l\\nf",d="w\\x"} 1\n');
    expect(Object.fromEntries(labels)).toEqual({ a: 'q"q', b: "b\\s", c: "l\nf", d: "w\\x" });
  });

  it("reads braces, commas and hashes inside label values as text", () => {
    expect(only('m{a="}",b="{,#=",c="1"} 1\n').labels.get("b")).toBe("{,#=");
  });

  it.each([
    ["+Inf", Number.POSITIVE_INFINITY],
    ["-Inf", Number.NEGATIVE_INFINITY],
    ["inf", Number.POSITIVE_INFINITY],
    ["NaN", Number.NaN],
    ["1e3", 1000],
    ["-.5", -0.5],
    ["+7", 7],
    ["1.26272101025e+11", 126272101025],
  ])("reads %s as a value", (text, value) => {
    expect(only(`m ${text}\n`).value).toBe(value);
  });

  it.each(["0x1f", "1_000", "1e", "--1", "12abc", "1,5"])("lists %s as a value that is not a number", (text) => {
    const sample = only(`m ${text}\n`);
    expect(sample.value).toBeUndefined();
    expect(sample.valueText).toBe(text);
  });

  it("keeps a sentence in place of a value complete", () => {
    expect(only('m{a="b"} ERROR - FAILED TO CONVERT TO STRING\n').valueText).toBe(
      "ERROR - FAILED TO CONVERT TO STRING",
    );
  });

  it("reads times in milliseconds, or in seconds if there is OpenMetrics' end marker", () => {
    expect(only("m 1 1700000000123\n").timestampMillis).toBe(1700000000123);
    expect(only("m 1 1700000000.5\n# EOF\n").timestampMillis).toBe(1700000000500);
  });

  it("skips exemplars", () => {
    const sample = only('m_bucket{le="1"} 5 # {trace_id="a b } \\" c"} 0.67 1700000000.5\n# EOF\n');
    expect(sample.value).toBe(5);
    expect(only('m{le="1"} 5 1.5 # {} 1\n# EOF\n').timestampMillis).toBe(1500);
  });

  it("accepts CRLF, blanks, empty lines, plain comments and a missing last line feed", () => {
    const { samples, malformed, unterminated } = parse('# a comment\r\n\r\n  m1 { a = "1" , } 1\r\n\tm2 2');
    expect(malformed).toEqual([]);
    expect(samples.map(({ name, value, line }) => [name, value, line])).toEqual([
      ["m1", 1, 3],
      ["m2", 2, 4],
    ]);
    expect(unterminated).toBe(true);
  });

  it("keeps HELP, TYPE and UNIT of a family, in any order, also if they are repeated or have no samples", () => {
    const { families } = parse(
      "# TYPE m gauge\n# HELP m a \\\\ b\\nc\n# UNIT m watts\n# HELP lonely x\n# TYPE m gauge\n",
    );
    expect(families.get("m")).toEqual({ type: "gauge", help: "a \\ b\nc", unit: "watts" });
    expect(families.get("lonely")).toEqual({ help: "x" });
  });

  it("reads quoted UTF-8 names", () => {
    const sample = only('{"gpu.temperature","device.id"="1"} 3\n');
    expect(sample.name).toBe("gpu.temperature");
    expect(sample.labels.get("device.id")).toBe("1");
  });

  it.each([
    ["m{a=1} 1", "a label value without quotes"],
    ['m{a="1" 1', "no comma between labels"],
    ['m{a="1', "an unclosed label value"],
    ['m{a="1",a="2"} 1', "the label a twice"],
    ["m{", "an unclosed label block"],
    ['m{a="1"}', "no value"],
    ["<html>", "no metric name"],
    ["m 1 2 3", "more than a value and a time"],
    ["m 1 later", "a time that is not a number"],
    ["half", "no value"],
    ["m-x 1", "an invalid metric name"],
  ])("lists %s as malformed, with the reason, and keeps the other lines", (line, why) => {
    const { samples, malformed } = parse(`before 1\n${line}\nafter 2\n`);
    expect(malformed).toEqual([{ line: 2, text: line, why }]);
    expect(samples.map(({ name }) => name)).toEqual(["before", "after"]);
  });

  it("returns byte offsets that select the value also on a page with multi-byte characters", () => {
    const page = Buffer.from('# HELP m température °C\nm{a="é"} 12.5\n');
    const [sample] = parseExposition(page).samples;
    expect(page.toString("utf8", sample!.valueStart, sample!.valueEnd)).toBe("12.5");
    expect(page.toString("utf8", sample!.start, sample!.nameEnd)).toBe("m");
    expect(sample!.labels.get("a")).toBe("é");
  });
});
