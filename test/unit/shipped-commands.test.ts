import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** All text that users get: documents, configurations, manifests, images and the code that prints commands. Tests and the changelog are not run. */
const SHIPPED = execFileSync("git", ["ls-files", ":!test", ":!CHANGELOG.md", ":!*.png", ":!*.svg"], {
  encoding: "utf8",
})
  .trimEnd()
  .split("\n");
/** The commands of installed packages that our own documents name. */
const INSTALLED = new Set(["vitest"]);

it("no command loads a package that is not installed: its name is free on the registry, and its code would run with the reader's rights", () => {
  const loading = SHIPPED.flatMap((file) =>
    [
      ...readFileSync(file, "utf8").matchAll(
        /\b(?:npx|npm (?:exec|install|i|add)|pnpm dlx|yarn dlx|bunx)\s+(?:--prefix \S+\s+|-\S+\s+)*([@\w][\w/.@-]*)/g,
      ),
    ]
      .filter(([, name]) => !INSTALLED.has(name!))
      .map(([command]) => `${file}: ${command}`),
  );
  expect(SHIPPED.length).toBeGreaterThan(1_000);
  expect(loading).toEqual([]);
});
