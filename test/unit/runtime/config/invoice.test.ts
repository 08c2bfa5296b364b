import { describe, expect, it } from "vitest";
import { readInvoice } from "../../../../runtime/config/invoice.ts";
import { describeProblem } from "../../../../runtime/config/file-problem.ts";

const problems = (text: string, format: "yaml" | "csv"): readonly string[] => {
  const read = readInvoice(text, format);
  return "problems" in read ? read.problems.map((problem) => describeProblem(problem).trim()) : [];
};

const LINE = "account: main, instanceType: p4d.24xlarge, capacityType: spot, currency: USD";

describe("an invoice", () => {
  it("is a list in YAML with exact decimals in quotes as amounts", () => {
    expect(readInvoice(`- { ${LINE}, amount: "12345.678900001" }`, "yaml")).toEqual({
      value: [
        {
          key: "invoice[0]",
          account: "main",
          instanceType: "p4d.24xlarge",
          capacityType: "spot",
          amount: 12_345_678_900_001n,
          currency: "USD",
        },
      ],
    });
  });

  it("is CSV with the same columns in any order, also with the semicolons of a spreadsheet", () => {
    const csv = "\uFEFFamount;account;instanceType;capacityType;currency\n-1.50;main;p5;on-demand;EUR\n";
    expect(readInvoice(csv, "csv")).toMatchObject({
      value: [{ account: "main", amount: -1_500_000_000n, currency: "EUR" }],
    });
    expect(readInvoice(csv.replaceAll(";", ","), "csv")).toEqual(readInvoice(csv, "csv"));
  });

  it("is refused with each mistake's key and line", () => {
    expect(problems(`- { ${LINE}, amount: 1.5 }\n- { ${LINE}, amount: "1,5" }`, "yaml")).toEqual([
      '[0].amount (line 1): 1.5 is not an amount as text, such as "12345.67"',
      expect.stringContaining('[1].amount (line 2): "1,5" is not an amount as text') as string,
    ]);
    expect(problems(`- { ${LINE}, amount: "1", region: eu }`, "yaml")).toEqual([
      "[0].region (line 1): no such key; a line has account, instanceType, capacityType, amount, currency",
    ]);
    const header = "account,instanceType,capacityType,amount,currency";
    expect(problems(`${header}\nmain,p5,spot,1,USD\nmain,p5,rented,1,XXX`, "csv")).toEqual([
      'capacityType (line 3): "rented" is not one of: on-demand, spot, reserved, owned',
      'currency (line 3): "XXX" is not a currency of ISO 4217, such as USD',
    ]);
    expect(problems(`${header},note\nmain,p5,spot,1,USD,x`, "csv")).toEqual([
      '(header) (line 1): "note" is not one of: account, instanceType, capacityType, amount, currency',
    ]);
    expect(problems(header, "csv")).toEqual(["(the whole file): at least one line"]);
    expect(problems(`${header}\nmain,p5,spot,1.0000000001,USD`, "csv")).toEqual([
      expect.stringContaining("at most 9 digits after the point") as string,
    ]);
  });
});
