import { describe, expect, it } from "vitest";
import { renderTable } from "../../../cli/table.ts";

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
});
