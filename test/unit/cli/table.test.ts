import { describe, expect, it } from "vitest";
import { renderTable } from "../../../cli/table.ts";
import { readable } from "../../../runtime/readable.ts";

describe("a text table", () => {
  it("has columns as wide as their widest cell, texts to the left and numbers to the right", () => {
    const text = renderTable(
      ["gpu", "model", "watts"],
      [
        ["0", "H100", "71.5"],
        ["10", "A100-SXM", "700"],
      ],
    );
    expect(text.split("\n")).toEqual([
      "gpu  model     watts", //
      "  0  H100       71.5",
      " 10  A100-SXM    700",
    ]);
  });

  it("treats a dash and a missing cell as numbers, but not a column with a text in it", () => {
    const text = renderTable(["value", "mixed"], [["-", "12"], ["1,234", "none"], [""]]);
    expect(text.split("\n")).toEqual([
      "value  mixed", //
      "    -  12",
      "1,234  none",
      "",
    ]);
  });

  it("counts characters instead of bytes, and has no blanks at the end of a line", () => {
    const text = renderTable(
      ["who", "what"],
      [
        ["Zoë 😀", "long word"],
        ["Anna", "x"],
      ],
    );
    expect(text.split("\n")).toEqual([
      "who    what", //
      "Zoë 😀  long word",
      "Anna   x",
    ]);
  });

  it("is only its header if there are no rows", () => {
    expect(renderTable(["id", "reason"], [])).toBe("id  reason");
  });

  it("shows characters that control a terminal as their codes", () => {
    const text = renderTable(["who"], [["\u001b]0;title\u0007ann\r\u202egnp\u009b2J"]]);
    expect(text.split("\n")[1]).toBe("\\u001b]0;title\\u0007ann\\u000d\\u202egnp\\u009b2J");
  });
});

describe("a text for a terminal", () => {
  it("has no control characters but line breaks and tabs", () => {
    expect(readable("a\tb\r\n\u001b[2J\u009b2J\r\u202ec\u{e0041}")).toBe(
      "a\tb\r\n\\u001b[2J\\u009b2J\\u000d\\u202ec\\udb40\\udc41",
    );
  });

  it("is the same JSON as before", () => {
    const value = { name: "\u009b2J\u202e \u{e0041}\u200d\u001b" };
    expect(JSON.parse(readable(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
