import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "../../../../runtime/config/load.ts";

const read = (text: string) => parseConfig(text, { source: "test", folder: ".", env: {} }).focus;

describe("whom FOCUS rows name", () => {
  it("is nobody who invoices, unless the configuration says so", () => {
    const named = { billingAccountId: "gpu-ledger", serviceName: "GPU time", serviceProvider: "GPU platform" };
    expect(read("")).toEqual(named);
    expect(read("focus: { invoiceIssuer: Finance, hostProvider: AWS }")).toEqual({
      ...named,
      invoiceIssuer: "Finance",
      hostProvider: "AWS",
    });
  });

  it.each([
    ['focus: { invoiceIssuer: "" }', `focus.invoiceIssuer (line 1): "" is not the issuer of the teams' invoices`],
    ["focus: { issuer: Finance }", "focus.issuer"],
  ])("is refused by its key: %s", (text, sentence) => {
    expect(() => read(text)).toThrow(ConfigError);
    expect(() => read(text)).toThrow(sentence);
  });
});
