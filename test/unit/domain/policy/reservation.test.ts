import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approximate, compare, rational, type Rational } from "../../../../domain/exact/rational.ts";
import { split } from "../../../../domain/exact/split.ts";
import { quotaWeights, type QuotaLine, type Reservation } from "../../../../domain/policy/reservation.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const REST = { team: "platform", costCenter: "" };

const held = (namespace: string, gpus: number): QuotaLine => ({
  payer: "holder",
  holder: { namespace },
  shareMillis: rational(gpus * HOUR),
});
const free = (gpus: number): QuotaLine => ({ payer: "spread", shareMillis: rational(gpus * HOUR) });
const quota = (namespace: string, gpus: number, team = namespace): Reservation => ({
  namespace,
  pieces: [{ team, costCenter: "", millis: gpus * HOUR }],
});

/** The weights in GPU-hours. */
function weights(lines: readonly QuotaLine[], reservations: readonly Reservation[]): Readonly<Record<string, number>> {
  const { weighed } = quotaWeights(lines, reservations, REST);
  return Object.fromEntries(weighed.map(({ team, weight }) => [team, approximate(weight as Rational) / HOUR]));
}

describe("the weights of a spread by quota", () => {
  it("are the unused part of each quota, and for the rest the free time beyond these", () => {
    const lines = [held("big", 2), held("small", 2), held("other", 3), free(8)];
    expect(weights(lines, [quota("big", 8), quota("small", 2)])).toEqual({ big: 6, platform: 2 });
  });

  it("have no rest if more is reserved than is free", () => {
    expect(weights([held("big", 2), free(3)], [quota("big", 8), quota("small", 4)])).toEqual({ big: 6, small: 4 });
  });

  it("are all absent if every quota is fully used", () => {
    expect(weights([held("big", 9), free(3)], [quota("big", 8), { namespace: "none", pieces: [] }])).toEqual({});
  });

  it("count held time that the platform pays, but not time that was already spread", () => {
    const lines = [
      { ...held("big", 3), payer: "platform" } as const,
      { payer: "holder", shareMillis: rational(HOUR) } as const,
    ];
    expect(weights([...lines, free(5)], [quota("big", 8)])).toEqual({ big: 5 });
  });

  it("belong to each owner of a namespace in the hour in proportion, and cover all namespaces of a team together", () => {
    const moved: Reservation = {
      namespace: "lab",
      pieces: [
        { team: "nlp", costCenter: "", millis: HOUR },
        { team: "speech", costCenter: "", millis: 3 * HOUR },
      ],
    };
    const lines = [held("lab", 2), free(4)];
    expect(weights(lines, [moved, quota("chat", 1, "nlp")])).toEqual({ nlp: 1.5, platform: 1, speech: 1.5 });
  });

  it("are at most the unused part of each quota", () => {
    const count = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count), { maxLength: 5 }), fc.integer({ min: 1, max: 40 }), (teams, all) => {
        const lines = [...teams.map(([gpus], index) => held(`t${index}`, gpus)), free(all)];
        const reservations = teams.map(([, gpus], index) => quota(`t${index}`, gpus));
        const { weighed } = quotaWeights(lines, reservations, REST);
        const parts =
          split(
            BigInt(all * HOUR),
            weighed.map(({ weight }) => weight),
          ) ?? [];
        for (const [index, { team }] of weighed.entries()) {
          if (team === REST.team) continue;
          const [gpus, granted] = teams[Number(team.slice(1))]!;
          expect(compare(rational(parts[index]!), rational(Math.max(0, granted - gpus) * HOUR))).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});
