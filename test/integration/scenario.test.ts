import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

const text = readFileSync("test/scenarios/by-usage.yaml", "utf8");

describe("the command scenario", () => {
  let folder: CommandFolder;
  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(() => folder.dispose());

  it("prints the bill of each policy by the given dimensions, in every format", async () => {
    const file = folder.write("fleet.yaml", text);
    const { code, stdout, stderr } = await folder.run(["scenario", file, "--by", "pod,state", "--format", "json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const vision = [
      { pod: "v-0", state: "active", gpuHours: "0.6", cost: "0.6" },
      { pod: "v-0", state: "idle", gpuHours: "1.4", cost: "1.4" },
    ];
    expect(JSON.parse(stdout)).toEqual({
      currency: "USD",
      policies: {
        default: { total: "2", gpuHours: "2", unpricedGpuHours: "0", lines: vision },
        "by-usage": { total: "2", gpuHours: "2", unpricedGpuHours: "0", lines: vision },
      },
    });
  });

  it("keeps a copy of its migrated store in the folder of caches, and prints the same bill with and without a copy", async () => {
    const file = folder.write("fleet.yaml", text);
    const bills: string[] = [];
    for (const caches of ["caches", "caches", "fleet.yaml"]) {
      const env = { XDG_CACHE_HOME: join(folder.path, caches) };
      const { code, stdout, stderr } = await folder.start(["scenario", file], { env }).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      bills.push(stdout);
      expect(readdirSync(join(folder.path, "caches", "gpu-ledger"))).toHaveLength(1);
    }
    expect(new Set(bills).size).toBe(1);
  });

  it("prints the bill of the README", async () => {
    const shown = /^\$ gpu-ledger (?<command>scenario .*)\n(?<bill>[^`]*)```/m.exec(
      readFileSync("README.md", "utf8"),
    )!.groups!;
    const { code, stdout } = await folder.call(shown["command"]!.replace("test/", `${resolve("test")}/`).split(" "));
    expect({ code, stdout }).toEqual({ code: 0, stdout: shown["bill"] });
  });

  it("prints the failed expectations line by line, and ends with 1", async () => {
    const file = folder.write(
      "wrong.yaml",
      text.replace('gpuHours: "0.6", cost: "0.60"', 'gpuHours: "0.7", cost: "0.61"'),
    );
    const { code, stderr } = await folder.call(["scenario", file]);
    expect(code).toBe(1);
    expect(stderr.split("\n").slice(0, 2)).toEqual([
      'default: ["vision","v-0","active"] has 0.6 GPU-hours, not 0.7',
      'default: ["vision","v-0","active"] costs 0.6, not 0.61',
    ]);
    expect(stderr).toContain("2 expectations do not hold");
  });

  it("ends with 2 for an invalid file, a missing file or an unknown dimension, and reports the problem", async () => {
    const invalid = await folder.call(["scenario", folder.write("invalid.yaml", text.replace("nodes:", "node:"))]);
    expect({ code: invalid.code, line: /line \d+/.test(invalid.stderr) }).toEqual({ code: 2, line: true });
    expect(invalid.stderr).toContain("node");
    const absent = await folder.call(["scenario", "absent.yaml"]);
    expect({ code: absent.code, said: absent.stderr.includes("absent.yaml cannot be read") }).toEqual({
      code: 2,
      said: true,
    });
    const by = await folder.call(["scenario", "absent.yaml", "--by", "colour"]);
    expect({ code: by.code, said: by.stderr.includes('"colour" is not one of') }).toEqual({ code: 2, said: true });
  });

  it("plays many files in one store, each by itself, and lists those with failed expectations", async () => {
    const wrong = text.replace('cost: "0.60"', 'cost: "0.61"');
    const [first, second, third] = ["a", "b", "c"].map((name, index) =>
      folder.write(`${name}.yaml`, index === 1 ? wrong : text),
    );
    const { code, stdout, stderr } = await folder.call(["scenario", first!, second!, third!, "--format", "json"]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { file: string; policies: { default: { total: string } } });
    expect(lines.map(({ file, policies }) => [file, policies.default.total])).toEqual(
      [first, second, third].map((file) => [file, "2"]),
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `default: ["vision","v-0","active"] costs 0.6, not 0.61\ngpu-ledger: ${second}: 1 expectation does not hold\n`,
    });
    const csv = await folder.call(["scenario", first!, third!, "--format", "csv"]);
    expect(csv).toMatchObject({ code: 2, stdout: "" });
  });

  it("reports the problems of each of many files, and plays none of them", async () => {
    const files = [folder.write("right.yaml", text), "absent.yaml", folder.write("broken.yaml", "title: 7")];
    const { code, stdout, stderr } = await folder.call(["scenario", ...files]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("absent.yaml cannot be read");
    expect(stderr).toContain("broken.yaml is not a valid scenario");
  });

  it.each(["SIGINT", "SIGTERM"] as const)("leaves no folder behind when %s ends it", async (signal) => {
    const temporary = mkdtempSync(join(folder.path, "tmp-"));
    const file = folder.write("fleet.yaml", text);
    const command = folder.start(["scenario", ...Array<string>(20).fill(file)], { env: { TMPDIR: temporary } });
    await expect.poll(() => readdirSync(temporary)).toHaveLength(1);
    const { code, stderr } = await command.end(signal);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `gpu-ledger: interrupted by ${signal}\n` });
    expect(readdirSync(temporary)).toEqual([]);
  });
});
