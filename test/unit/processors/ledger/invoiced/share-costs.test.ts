import { expect, it } from "vitest";
import { exactDecimal, exactOf, rational, type Rational } from "../../../../../domain/exact/rational.ts";
import { poolCosts } from "../../../../../processors/ledger/invoiced/pool-costs.ts";
import type { ExportCost, ReservedTime } from "../../../../../processors/ledger/invoiced/read-costs.ts";
import { spreadReservations } from "../../../../../processors/ledger/invoiced/spread-reservations.ts";
import { HOUR_MILLIS } from "../../../../../domain/time.ts";

function cost(given: Partial<ExportCost>, effective: string, hours?: Rational): ExportCost {
  const amount = exactOf(effective);
  return {
    source: "aws",
    cloud: "aws",
    account: "111",
    billingFrom: 0,
    kind: "machine",
    machine: "i-0a",
    region: "us-east-1",
    zone: "",
    instanceType: "p4d.24xlarge",
    capacityType: "on-demand",
    commitment: "",
    reservation: "",
    currency: "USD",
    isInvoiced: true,
    lines: 1,
    from: 0,
    until: HOUR_MILLIS,
    machineHours: hours,
    costs: { list: amount, contracted: amount, effective: amount },
    ...given,
  };
}

const shown = (costs: readonly ExportCost[]): readonly string[] =>
  costs.map(({ kind, machine, costs: { effective } }) => `${kind} ${machine} ${exactDecimal(effective, 12)}`);

it("a reservation is divided over the hours of its machines, and the rest is unused", () => {
  const reserved = (machine: string, hours: string): ReservedTime => ({
    reservation: "cr-1",
    machine,
    currency: "USD",
    from: 0,
    until: HOUR_MILLIS,
    hours: exactOf(hours),
  });
  const block = cost({ kind: "reservation", machine: "", reservation: "cr-1" }, "40", rational(4));
  const times = [reserved("i-0a", "1"), reserved("i-0b", "0.5")];
  expect(shown(spreadReservations([block], times))).toEqual([
    "machine i-0a 10",
    "machine i-0b 5",
    "unused-commitment  25",
  ]);
  expect(shown(spreadReservations([block], []))).toEqual(["unused-commitment  40"]);
  // Without the reserved hours, the machines have all of it.
  const unknown = cost({ kind: "reservation", machine: "", reservation: "cr-1" }, "30");
  expect(shown(spreadReservations([unknown], times))).toEqual(["machine i-0a 20", "machine i-0b 10"]);
});

it("machines of a pool have the mean by their hours; spot, other accounts and unknown hours keep theirs", () => {
  const costs = [
    cost({ machine: "i-0a" }, "6", rational(1)),
    cost({ machine: "i-0b" }, "9", rational(1, 2)),
    cost({ machine: "i-0c", capacityType: "spot" }, "2", rational(1)),
    cost({ machine: "i-0d", account: "222" }, "7", rational(1)),
    cost({ machine: "i-0e" }, "3"),
  ];
  expect(shown(poolCosts(costs))).toEqual([
    "machine i-0a 10",
    "machine i-0b 5",
    "machine i-0c 2",
    "machine i-0d 7",
    "machine i-0e 3",
  ]);
});
