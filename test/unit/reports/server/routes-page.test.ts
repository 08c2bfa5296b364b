import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { routesMarkdown } from "../../../../reports/server/routes-page.ts";

it("docs/access.md, which `npm run generate` writes, has every route with who may ask it", () => {
  const cells = (text: string): readonly string[] =>
    text
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.replaceAll(/\s*\|\s*/g, "|").replaceAll(/-{3,}/g, "---"));
  const written = readFileSync("docs/access.md", "utf8").split("<!-- routes")[1]!.split("<!-- end")[0]!;
  expect(cells(written)).toEqual(cells(routesMarkdown()));
});
