import { describe, expect, it } from "vitest";
import { atOnce, createStepRunner, type Steps } from "../../../runtime/steps.ts";

function* counting(steps: number, done: string[] = [], name = ""): Steps<number> {
  for (let step = 0; step < steps; step++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    done.push(name);
    yield;
  }
  return steps;
}

describe("work in steps", () => {
  it("has the same result at once and by turns", async () => {
    expect(atOnce(counting(3))).toBe(3);
    expect(await createStepRunner().run(counting(3))).toBe(3);
    expect(await createStepRunner().run(counting(0))).toBe(0);
  });

  it("lets short work end, and a timer fire, while long work is running", async () => {
    const runner = createStepRunner();
    const ended: string[] = [];
    const long = runner.run(counting(200)).then(() => ended.push("long"));
    const timer = new Promise<void>((resolve) => setTimeout(resolve, 1)).then(() => ended.push("timer"));
    const short = runner.run(counting(5)).then(() => ended.push("short"));
    await Promise.all([long, timer, short]);
    expect(ended.at(-1)).toBe("long");
  });

  it("gives each work its turn", async () => {
    const runner = createStepRunner();
    const done: string[] = [];
    await Promise.all(["a", "b", "c"].map((name) => runner.run(counting(3, done, name))));
    expect(done.join("")).toBe("abcabcabc");
  });

  it("rejects with the error of a work, and continues with the others", async () => {
    const runner = createStepRunner();
    function* failing(): Steps<number> {
      yield;
      throw new TypeError("no");
    }
    const [failed, other] = await Promise.allSettled([runner.run(failing()), runner.run(counting(3))]);
    expect(failed).toMatchObject({ status: "rejected", reason: new TypeError("no") });
    expect(other).toEqual({ status: "fulfilled", value: 3 });
    expect(() => atOnce(failing())).toThrow("no");
  });
});
