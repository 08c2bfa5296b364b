import fc from "fast-check";
import { expect, it } from "vitest";
import { partOfSpan } from "../../../../domain/exact/part-of-span.ts";

it("the parts of a span are whole units, less than one unit from their exact values, and sum to the whole", () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), cuts, (amount, inner) => {
      const edges = [0, ...inner.toSorted((a, b) => a - b), 1000];
      const span = { fromMillis: 0, untilMillis: 1000 };
      const parts = edges.slice(1).map((until, index) => {
        const part = { fromMillis: edges[index]!, untilMillis: until };
        const own = partOfSpan(amount, span, part);
        const exact = amount * BigInt(until - edges[index]!);
        expect(own * 1000n - exact).toBeGreaterThan(-1000n);
        expect(own * 1000n - exact).toBeLessThan(1000n);
        return own;
      });
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amount);
    }),
  );
});
