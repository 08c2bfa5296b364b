import { describe, expect, it } from "vitest";
import { renderTable } from "../../../cli/table.ts";

describe("a text table", () => {
  it("has columns as wide as their widest cell, words to the left and numbers to the right", () => {
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

  it("takes a dash and a missing cell for numbers, but no column with a word in it", () => {
    const text = renderTable(["value", "mixed"], [["-", "12"], ["1,234", "none"], [""]]);
    expect(text.split("\n")).toEqual([
      "value  mixed", //
      "    -  12",
      "1,234  none",
      "",
    ]);
  });

  it("counts characters and not their bytes, and leaves no blanks at a line's end", () => {
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

  it("is its header where there are no rows", () => {
    expect(renderTable(["id", "reason"], [])).toBe("id  reason");
  });
});
