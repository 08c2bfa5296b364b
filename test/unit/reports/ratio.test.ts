import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import { Ratio } from "../../../reports/parts/money.tsx";

it.each([
  ["1", "100.0 %"],
  ["0.999600", "over 99.9 %"],
  ["0.999499", "99.9 %"],
  ["0", "0.0 %"],
  [null, "–"],
])("a ratio of %s is shown as %s", (ratio, shown) => {
  expect(renderToString(h(Ratio, { ratio })).replaceAll(/<[^>]*>/g, "")).toBe(shown);
});
