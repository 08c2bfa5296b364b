import { afterAll, beforeAll, describe } from "vitest";
import type { Bus } from "../../../runtime/bus/bus.ts";
import { describeKeeping } from "./keeping.ts";
import type { BusMake } from "./make.ts";
import { describeSharing } from "./sharing.ts";

/** The contract of the port `runtime/bus/bus.ts`, the same for every implementation. */
export function describeBus(name: string, start: () => Promise<BusMake>): void {
  describe(`the contract of ${name}`, () => {
    let make: BusMake | undefined;
    let bus: Bus | undefined;
    const present = <Value>(value: Value | undefined): Value => {
      if (value === undefined) throw new Error(`${name} has not started.`);
      return value;
    };

    beforeAll(async () => {
      make = await start();
      bus = await make.open();
    });
    afterAll(async () => {
      await bus?.close();
      await make?.stop();
    });

    describeKeeping(
      () => present(make),
      () => present(bus),
    );
    describeSharing(
      () => present(make),
      () => present(bus),
    );
  });
}
