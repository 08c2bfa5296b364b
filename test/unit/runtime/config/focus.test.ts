import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const read = (text: string) => parseConfig(text, { source: "test", folder: ".", env: {} }).focus;

describe("the parties in FOCUS rows", () => {
  it("do not include an invoice issuer, unless the configuration has one", () => {
    const named = {
      billingAccountId: "gpu-ledger",
      serviceName: "GPU time",
      serviceProvider: "GPU platform",
      paymentTerms: "Internal chargeback",
    };
    expect(read("")).toEqual(named);
    expect(read("focus: { invoiceIssuer: Finance, hostProvider: AWS }")).toEqual({
      ...named,
      invoiceIssuer: "Finance",
      hostProvider: "AWS",
    });
  });

  it.each(["1.4", '"1.4"'])("have a version, with quotes or without: %s", (written) => {
    expect(read(`focus: { version: ${written} }`).version).toBe("1.4");
  });

  it.each([
    ["focus: { version: 1.2 }", "one of: 1.3, 1.4"],
    ['focus: { invoiceIssuer: "" }', `focus.invoiceIssuer (line 1): "" is not the issuer of the teams' invoices`],
    ["focus: { issuer: Finance }", "focus.issuer"],
  ])("are refused by key: %s", (text, sentence) => {
    expect(() => read(text)).toThrow(ConfigError);
    expect(() => read(text)).toThrow(sentence);
  });
});
