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

  /** What happens to the books, and costs that no GPU of a cluster has, are the pipeline's alone: the plain reference knows neither. */
  it.each(["test/scenarios/closing", "test/scenarios/fleet"])(
    "come to the bills and the corrections that are written: those of %s",
    async (of) => {
      const files = readdirSync(of).map((file) => resolve(join(of, file)));
      const { code, stdout, stderr } = await folder.run(["scenario", ...files]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(files.filter((file) => !stdout.includes(file))).toEqual([]);
    },
  );
});
