const DAY_SECONDS = 86_400;

/** A swing of the load: `amplitude × sin(2π × (t / period + phase))`, t in seconds since the epoch, phase in turns. */
interface Wave {
  readonly amplitude: number;
  readonly period: number;
  readonly phase: number;
}

/** A step that repeats: `height` for `width` seconds of every `period`. */
interface Pulse {
  readonly height: number;
  readonly period: number;
  readonly width: number;
  readonly phase: number;
}

/**
 * The load of a workload on its devices, 0..1, as a function of time. Its integral has a closed form: the energy counter is exactly the
 * area under the power, for any two times, without steps between them.
 */
export interface Load {
  readonly base: number;
  readonly waves: readonly Wave[];
  readonly pulse?: Pulse;
}

/** A load of 0. */
export const NO_LOAD: Load = { base: 0, waves: [] };

/** Returns a swing with a period in seconds and a phase in turns. */
export function wave(amplitude: number, period: number, phase: number): Wave {
  return { amplitude, period, phase };
}

/** Returns a daily rhythm with its peak at 14:00 at the given offset from UTC. */
export function dayWave(amplitude: number, utcOffsetHours: number): Wave {
  return { amplitude, period: DAY_SECONDS, phase: 0.25 - (14 - utcOffsetHours) / 24 };
}

/** Returns a weekly rhythm with its peak on Wednesday at noon: the epoch began on a Thursday. */
export function weekWave(amplitude: number): Wave {
  return { amplitude, period: 7 * DAY_SECONDS, phase: 0.25 + 0.5 / 7 };
}

/** Returns the position of a wave as an angle in the first turn. Sines of large angles are many times slower. */
function angleAt({ period, phase }: Wave, seconds: number): number {
  const turns = seconds / period + phase;
  return (turns - Math.floor(turns)) * 2 * Math.PI;
}

/** Returns the load at a time, in seconds since the epoch. */
export function loadAt({ base, waves, pulse }: Load, seconds: number): number {
  let load = base;
  for (const each of waves) load += each.amplitude * Math.sin(angleAt(each, seconds));
  if (pulse !== undefined && isUp(pulse, seconds)) load += pulse.height;
  return load;
}

/** Returns the area under the load between two times: seconds at full load. */
export function loadBetween({ base, waves, pulse }: Load, from: number, until: number): number {
  let area = base * (until - from);
  for (const each of waves) {
    const swing = Math.cos(angleAt(each, from)) - Math.cos(angleAt(each, until));
    area += ((each.amplitude * each.period) / (2 * Math.PI)) * swing;
  }
  if (pulse !== undefined) area += pulse.height * (upBefore(pulse, until) - upBefore(pulse, from));
  return area;
}

function isUp({ period, width, phase }: Pulse, seconds: number): boolean {
  const turns = (seconds - phase) / period;
  return (turns - Math.floor(turns)) * period < width;
}

function upBefore({ period, width, phase }: Pulse, seconds: number): number {
  const turns = (seconds - phase) / period;
  const whole = Math.floor(turns);
  return whole * width + Math.min((turns - whole) * period, width);
}
