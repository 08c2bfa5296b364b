import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pdfOf } from "../../../../reports/format/pdf.ts";

it("printing without a browser fails with the name of the missing program", async () => {
  await expect(pdfOf("<p>", { PATH: "" })).rejects.toMatchObject({
    code: "no-pdf",
    message: expect.stringContaining("install Debian's package chromium") as string,
  });
});

it("printing fails with a message if the browser did not print", async () => {
  // A program of the right name that prints nothing.
  const folder = mkdtempSync(join(tmpdir(), "no-chromium-"));
  try {
    symlinkSync("/bin/false", join(folder, "chromium"));
    await expect(pdfOf("<p>", { PATH: folder })).rejects.toMatchObject({
      message: expect.stringContaining("chromium did not print the PDF") as string,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
