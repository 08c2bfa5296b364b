import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

describe("scenarios of the whole pipeline", () => {
  let folder: CommandFolder;
  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(() => folder.dispose());

  /** Closings of books, costs that no GPU of a cluster has, exports and services are only in the pipeline: the plain reference has none of them. */
  it.each(["test/scenarios/closing", "test/scenarios/fleet", "test/scenarios/invoices", "test/scenarios/serving"])(
    "have the written bills and corrections: those of %s",
    async (of) => {
      const files = readdirSync(of).map((file) => resolve(join(of, file)));
      const { code, stdout, stderr } = await folder.run(["scenario", ...files]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(files.filter((file) => !stdout.includes(file))).toEqual([]);
    },
  );
});
