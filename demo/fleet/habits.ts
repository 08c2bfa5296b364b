import { roll } from "./hash.ts";
import { dayWave, wave, weekWave, type Load } from "./load.ts";

/** Returns small swings like those of every real workload. Their amplitudes add up to twice `size`. */
function ripple(key: number, size: number): Load["waves"] {
  return [
    wave(size, 61 + 73 * roll(key, 11), roll(key, 12)),
    wave(size * 0.6, 290 + 400 * roll(key, 13), roll(key, 14)),
    wave(size * 0.4, 2300 + 3000 * roll(key, 15), roll(key, 16)),
  ];
}

/** Returns a steady load near the maximum, with a pause for each checkpoint. One job of five waits for data. */
export function trainingLoad(key: number): Load {
  const isStarved = roll(key, 21) < 0.2;
  const base = isStarved ? 0.3 + 0.15 * roll(key, 22) : 0.84 + 0.1 * roll(key, 22);
  const period = 1200 + 2400 * roll(key, 23);
  const width = 45 + 60 * roll(key, 24);
  return {
    base,
    waves: ripple(key, isStarved ? 0.07 : 0.025),
    pulse: { height: -base * (isStarved ? 0.5 : 0.8), period, width, phase: period * roll(key, 25) },
  };
}

/** Returns a load that follows the users' day: high in the afternoon, low at night, lower at the weekend. */
export function inferenceLoad(service: number, pod: number, utcOffsetHours: number): Load {
  const most = 0.35 + 0.5 * roll(service, 31);
  return {
    base: most * 0.5,
    waves: [dayWave(most * 0.3, utcOffsetHours), weekWave(most * 0.08), ...ripple(pod, most * 0.04)],
  };
}

/** Returns a load that is mostly 0, with short runs. */
export function notebookLoad(key: number): Load {
  const period = 1500 + 2700 * roll(key, 41);
  const width = 90 + 420 * roll(key, 42);
  return {
    base: 0,
    waves: [],
    pulse: { height: 0.25 + 0.55 * roll(key, 43), period, width, phase: period * roll(key, 44) },
  };
}

/** Returns a load that is always near a level. */
export function steadyLoad(key: number, level: number): Load {
  return { base: level, waves: ripple(key, level * 0.04) };
}
