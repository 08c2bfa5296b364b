import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

/** What happens to the books, and costs that no GPU of a cluster has, are the pipeline's alone: the plain reference knows neither. */
const files = ["test/scenarios/closing", "test/scenarios/fleet"].flatMap((folder) =>
  readdirSync(folder).map((file) => join(folder, file)),
);

describe("a scenario of the whole pipeline", () => {
  let folder: CommandFolder;
  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(() => folder.dispose());

  it.each(files)("comes to the bill and the corrections that are written: %s", async (file) => {
    const { code, stderr } = await folder.run(["scenario", resolve(file)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});
