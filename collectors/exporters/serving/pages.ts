import { encodeServingStable } from "../../../domain/messages/serving-message.ts";
import type { ServingOrigin } from "../../../domain/serving/scrape.ts";
import type { PageKind } from "../page/kind.ts";
import { createSizeCheck, rowTexts } from "../page/row-texts.ts";
import { planServing, type ServingPlan } from "./plan.ts";
import type { Tenants } from "./tenants.ts";

/** The parts of an engine's or a gateway's target that the reader needs. */
export interface ServingSource {
  /** A unique key for each target. */
  readonly key: string;
  readonly origin: ServingOrigin;
  readonly tenants: Tenants;
}

const PROGRAMS = "inference engine or gateway";

/** The pages of engines and gateways: a row for each model, part or tenant, and one message. */
export const SERVING_PAGES: PageKind<ServingSource> = {
  programs: PROGRAMS,
  *plan(samples, families, limits, { origin, tenants }) {
    const { program, shape, drops, known } = yield* planServing(samples, families, tenants);
    const size = createSizeCheck(program.cellCount, limits.messageBytes);
    const stable = encodeServingStable(origin, shape, yield* rowTexts(shape.series, size));
    size.check(stable.length);
    const hosts = [{ origin, stable, from: 0, until: program.cellCount }];
    return { program, columns: shape.columns, gpus: 0, hosts, drops, known };
  },
};

/** The pages of engines and gateways, without their message. */
export const SERVING_LINES: PageKind<Tenants, ServingPlan> = {
  programs: PROGRAMS,
  plan: (samples, families, _, tenants) => planServing(samples, families, tenants),
};
