import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addAmounts,
  mapAmounts,
  NO_AMOUNTS,
  SERVING_COUNTS,
  type ServiceCharge,
  type ServingAmounts,
  type ServingLine,
  type ServingPayer,
} from "../../../../domain/serving/line.ts";
import type { Service, ServingTarget, TenantWork } from "../../../../domain/serving/service.ts";
import { SPLIT_RULES } from "../../../../domain/serving/split-rule.ts";
import { splitService, type ServingRule } from "../../../../domain/serving/split-service.ts";
import { UNATTRIBUTED } from "../../../../domain/serving/tenants.ts";
import { addModels, NO_WORK, type Work } from "../../../../domain/serving/work.ts";

const HOUR = 3_600_000;
const TEAM: ServingPayer = {
  payer: "holder",
  team: "chat",
  costCenter: "",
  project: "",
  environment: "",
  gpuModel: "H100",
};
const PLATFORM: ServingPayer = { ...TEAM, payer: "platform", team: "platform" };
const TIME: ServingRule = { rule: "time", tokens: { computed: 1, generated: 4 }, mostTenants: 100 };

const money = (effective: bigint, gpuHours = 1_000_000_000n): ServingAmounts =>
  mapAmounts((name) => (name === "effective" ? effective : name === "gpuHours" ? gpuHours : undefined));
const charge = (pod: string, effective: bigint, more: Partial<ServiceCharge> = {}): ServiceCharge => ({
  pod,
  isStarting: false,
  payer: TEAM,
  amounts: money(effective),
  ...more,
});
const target = (work: Partial<Work>, times: Partial<ServingTarget> = {}): ServingTarget => ({
  servedMillis: HOUR,
  loadingMillis: 0,
  coveredMillis: HOUR,
  idleMillis: 0,
  models: [{ model: "m", work: { ...NO_WORK, ...work } }],
  ...times,
});
const service = (more: Partial<Service>): Service => ({
  cluster: "c",
  namespace: "chat",
  workloadKind: "Deployment",
  workload: "llm",
  replicas: [],
  works: addModels((more.replicas ?? []).flatMap(({ targets }) => targets.flatMap(({ models }) => models))),
  frontend: [],
  tenants: [],
  ...more,
});
const tenant = (name: string, promptTokens: number, generatedTokens: number): TenantWork => ({
  model: "m",
  adapter: "",
  tenant: name,
  promptTokens,
  cachedTokens: undefined,
  generatedTokens,
  requests: 0,
  spendNanos: 0,
});
const effectiveOf = (lines: readonly ServingLine[]): Readonly<Record<string, bigint>> =>
  Object.fromEntries(
    lines.map(({ phase, tenant: of, amounts }) => [of === "" ? phase : `${phase} ${of}`, amounts.effective ?? 0n]),
  );

describe("the split of a service", () => {
  test("has idle time first, then prefill and decode by the time of requests", () => {
    const work = { computedTokens: 900, generatedTokens: 100, prefillMicros: 1_000_000, decodeMicros: 3_000_000 };
    const one = service({ replicas: [{ pods: ["a"], targets: [target(work, { idleMillis: HOUR / 4 })] }] });
    // A quarter of 1000 is idle. Of the other 750, prefill has 1/4 and decode 3/4: 187.5 and 562.5. The unit that is left goes to decode,
    // which comes first in the order of names.
    expect(effectiveOf(splitService(one, [charge("a", 1000n)], TIME))).toEqual({
      decode: 563n,
      prefill: 187n,
      idle: 250n,
    });
  });

  test("has the cost of followers, of starting and of unmeasured time", () => {
    const work = { computedTokens: 10, generatedTokens: 10, prefillMicros: 1, decodeMicros: 1 };
    const gang = { pods: ["leader", "follower"], targets: [target(work, { coveredMillis: HOUR / 2 })] };
    const lines = splitService(
      service({ replicas: [gang] }),
      [charge("leader", 400n), charge("follower", 400n), charge("follower", 100n, { isStarting: true })],
      TIME,
    );
    expect(effectiveOf(lines)).toEqual({ decode: 200n, prefill: 200n, unmeasured: 400n, starting: 100n });
  });

  test("has the time in which the engine loaded, as far as no page covers it", () => {
    const loading = target(
      { generatedTokens: 1, decodeMicros: 1 },
      { coveredMillis: HOUR / 2, loadingMillis: HOUR / 4 },
    );
    const early = { ...loading, loadingMillis: HOUR };
    const split = (of: ServingTarget) =>
      effectiveOf(splitService(service({ replicas: [{ pods: ["a"], targets: [of] }] }), [charge("a", 400n)], TIME));
    expect(split(loading)).toEqual({ decode: 200n, starting: 100n, unmeasured: 100n });
    expect(split(early)).toEqual({ decode: 200n, starting: 200n });
  });

  test("gives silent pods without a gang the cells of the workload", () => {
    const busy = { pods: ["a"], targets: [target({ generatedTokens: 10, decodeMicros: 5 })] };
    const idle = { pods: ["b"], targets: [target({}, { idleMillis: HOUR })] };
    const lines = splitService(service({ replicas: [busy, idle] }), [charge("c", 100n)], TIME);
    expect(effectiveOf(lines)).toEqual({ decode: 50n, idle: 50n });
  });

  test("splits over tenants at the unit cost of each phase, and names what no gateway counts", () => {
    const work = { computedTokens: 1000, generatedTokens: 100, prefillMicros: 1, decodeMicros: 1 };
    const lines = splitService(
      service({
        replicas: [{ pods: ["a"], targets: [target(work)] }],
        tenants: [tenant("x", 500, 10), tenant("y", 300, 60)],
      }),
      [charge("a", 2000n)],
      TIME,
    );
    expect(effectiveOf(lines)).toEqual({
      "prefill x": 500n,
      "prefill y": 300n,
      [`prefill ${UNATTRIBUTED}`]: 200n,
      "decode x": 100n,
      "decode y": 600n,
      [`decode ${UNATTRIBUTED}`]: 300n,
    });
  });

  test("scales tenants down if the gateway counts more than the engine, and has the excess", () => {
    const work = { computedTokens: 100, generatedTokens: 100, prefillMicros: 1, decodeMicros: 1 };
    const lines = splitService(
      service({
        replicas: [{ pods: ["a"], targets: [target(work)] }],
        tenants: [tenant("x", 150, 50), tenant("y", 50, 50)],
      }),
      [charge("a", 200n)],
      TIME,
    );
    expect(effectiveOf(lines)).toEqual({ "prefill x": 75n, "prefill y": 25n, "decode x": 50n, "decode y": 50n });
    expect(lines.reduce((sum, { counts }) => sum + counts.excessTokens, 0)).toBe(100);
  });

  test("does not charge cached tokens, and has what they saved", () => {
    const work = { computedTokens: 100, cachedTokens: 300, generatedTokens: 50, prefillMicros: 1, decodeMicros: 1 };
    const one = service({ replicas: [{ pods: ["a"], targets: [target(work)] }] });
    const prefill = splitService(one, [charge("a", 200n)], TIME).find(({ phase }) => phase === "prefill")!;
    expect([prefill.amounts.effective, prefill.saved, prefill.counts.cachedTokens]).toEqual([100n, 300n, 300]);
  });

  test("counts tokens with the team, not with the platform that pays for idle time", () => {
    const one = service({ replicas: [{ pods: ["a"], targets: [target({ generatedTokens: 7, decodeMicros: 1 })] }] });
    const lines = splitService(one, [charge("a", 100n), charge("a", 50n, { payer: PLATFORM })], TIME);
    expect(lines.map(({ team, counts }) => [team, counts.generatedTokens])).toEqual([
      ["chat", 7],
      ["platform", 0],
    ]);
  });

  test("splits an engine without counters as a whole, and a page that was never read as unmeasured", () => {
    const gauges = { pods: ["a"], targets: [target({})] };
    const failed = { pods: ["b"], targets: [target({}, { coveredMillis: 0, models: [] })] };
    const lines = splitService(service({ replicas: [gauges, failed] }), [charge("a", 10n), charge("b", 20n)], {
      ...TIME,
      rule: "gpu-time",
    });
    expect(effectiveOf(lines)).toEqual({ inference: 10n, unmeasured: 20n });
  });

  test("keeps at most the given number of tenants, and adds the others", () => {
    const tenants = Array.from({ length: 10 }, (_, index) => tenant(`t${index}`, 10 + index, 1));
    const one = service({
      replicas: [{ pods: ["a"], targets: [target({ computedTokens: 145, generatedTokens: 10, prefillMicros: 1 })] }],
      tenants,
    });
    const lines = splitService(one, [charge("a", 145n)], { ...TIME, mostTenants: 2 });
    expect(effectiveOf(lines)).toEqual({ "prefill t9": 19n, "prefill t8": 18n, "prefill other": 108n });
  });
});

const WORKED = SERVING_COUNTS.filter(
  (name): name is Exclude<typeof name, "excessTokens" | "spendNanos"> => !["excessTokens", "spendNanos"].includes(name),
);
const count = fc.integer({ min: 0, max: 1_000_000 });
const aWork: fc.Arbitrary<Work> = fc.record({
  computedTokens: count,
  cachedTokens: count,
  generatedTokens: count,
  requests: count,
  inferences: count,
  prefillMicros: count,
  decodeMicros: count,
  computeMicros: count,
  gpuPrefillMicros: count,
  gpuDecodeMicros: count,
});
const aTarget: fc.Arbitrary<ServingTarget> = fc
  .tuple(count, count, count, fc.dictionary(fc.constantFrom("m", "n"), aWork))
  .map(([a, b, c, models]) => {
    const [idleMillis, coveredMillis, servedMillis] = [a, b, c].sort((x, y) => x - y) as [number, number, number];
    const byModel = Object.entries(models).sort(([x], [y]) => (x < y ? -1 : 1));
    return {
      idleMillis,
      coveredMillis,
      servedMillis,
      loadingMillis: b,
      models: byModel.map(([model, work]) => ({ model, work })),
    };
  });
const aTenant: fc.Arbitrary<TenantWork> = fc.record({
  model: fc.constantFrom("m", "n"),
  adapter: fc.constantFrom("", "lora"),
  tenant: fc.constantFrom("x", "y", "z"),
  promptTokens: count,
  cachedTokens: fc.option(count, { nil: undefined }),
  generatedTokens: count,
  requests: count,
  spendNanos: count,
});
const aService: fc.Arbitrary<Service> = fc
  .tuple(
    fc.array(fc.array(aTarget, { maxLength: 2 }), { maxLength: 3 }),
    fc.uniqueArray(aTenant, { selector: ({ model, adapter, tenant: name }) => `${model} ${adapter} ${name}` }),
  )
  .map(([replicas, tenants]) =>
    service({
      replicas: replicas.map((targets, index) => ({ pods: [`p${index}`, `f${index}`], targets })),
      tenants,
    }),
  );
const anAmount = fc.option(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), { nil: undefined });
const aCharge: fc.Arbitrary<ServiceCharge> = fc.record({
  pod: fc.constantFrom("p0", "f0", "p1", "f1", "p2", "s", "unknown"),
  isStarting: fc.boolean(),
  payer: fc.constantFrom(TEAM, PLATFORM, { ...TEAM, team: "search" }, { ...TEAM, gpuModel: "A100" }),
  amounts: fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), anAmount, anAmount)
    .map(([gpuHours, effective, millijoules]) => ({ ...NO_AMOUNTS, gpuHours, effective, millijoules })),
});
const aRule = fc.constantFrom(...SPLIT_RULES).map((rule) => ({ ...TIME, rule, mostTenants: 2 }));

describe("the split of random traffic", () => {
  const sumsByPayer = (items: readonly { readonly payer: string; readonly amounts: ServingAmounts }[]): object => {
    const sums = new Map<string, ServingAmounts>();
    for (const { payer, amounts } of items) sums.set(payer, addAmounts(sums.get(payer) ?? NO_AMOUNTS, amounts));
    const whole = [...sums].map(([payer, amounts]) => [payer, mapAmounts((name) => amounts[name] ?? 0n)] as const);
    const isSome = ([, amounts]: (typeof whole)[number]): boolean => Object.values(amounts).some((each) => each !== 0n);
    return Object.fromEntries(whole.filter(isSome));
  };
  const payerOf = ({ payer, team, gpuModel }: ServingPayer): string => `${payer} ${team} ${gpuModel}`;

  test("sums to the charges for each payer and amount", () => {
    fc.assert(
      fc.property(aService, fc.array(aCharge), aRule, (of, charges, rule) => {
        const lines = splitService(of, charges, rule);
        expect(sumsByPayer(lines.map((line) => ({ ...line, payer: payerOf(line) })))).toEqual(
          sumsByPayer(charges.map(({ payer, amounts }) => ({ payer: payerOf(payer), amounts }))),
        );
      }),
    );
  });

  test("counts each token and request once", () => {
    fc.assert(
      fc.property(aService, fc.array(aCharge, { minLength: 1 }), aRule, (of, charges, rule) => {
        const lines = splitService(of, charges, rule);
        for (const name of WORKED) {
          const found = lines.reduce((sum, { counts }) => sum + counts[name], 0);
          expect(found).toBe(of.works.reduce((sum, { work }) => sum + work[name], 0));
        }
      }),
    );
  });

  test("is the same whatever the order of charges, replicas and tenants, and without zeros", () => {
    fc.assert(
      fc.property(aService, fc.array(aCharge), aRule, (of, charges, rule) => {
        const lines = splitService(of, charges, rule);
        const turned = {
          ...of,
          replicas: of.replicas.toReversed(),
          tenants: of.tenants.toReversed(),
        };
        expect(splitService(turned, charges.toReversed(), rule)).toEqual(lines);
      }),
    );
  });

  test("costs the same if all work is k times as much", () => {
    fc.assert(
      fc.property(aService, fc.array(aCharge), aRule, fc.integer({ min: 2, max: 9 }), (of, charges, rule, k) => {
        const times = (work: Work): Work =>
          Object.fromEntries(Object.entries(work).map(([name, value]) => [name, value * k])) as unknown as Work;
        const more: Service = {
          ...of,
          works: of.works.map(({ model, work }) => ({ model, work: times(work) })),
          replicas: of.replicas.map((replica) => ({
            ...replica,
            targets: replica.targets.map((each) => ({
              ...each,
              models: each.models.map(({ model, work }) => ({ model, work: times(work) })),
            })),
          })),
          tenants: of.tenants.map((each) => ({
            ...each,
            promptTokens: each.promptTokens * k,
            cachedTokens: each.cachedTokens === undefined ? undefined : each.cachedTokens * k,
            generatedTokens: each.generatedTokens * k,
            requests: each.requests * k,
          })),
        };
        const sums = (lines: readonly ServingLine[]): object => {
          const byPhase: Record<string, bigint> = {};
          for (const { model, phase, amounts } of lines)
            byPhase[`${model} ${phase}`] = (byPhase[`${model} ${phase}`] ?? 0n) + (amounts.effective ?? 0n);
          return byPhase;
        };
        const [once, often] = [splitService(of, charges, rule), splitService(more, charges, rule)];
        expect(sums(often)).toEqual(sums(once));
        const generated = (lines: readonly ServingLine[]): number =>
          lines.reduce((sum, { counts }) => sum + counts.generatedTokens, 0);
        expect(generated(often)).toBe(k * generated(once));
      }),
    );
  });
});
