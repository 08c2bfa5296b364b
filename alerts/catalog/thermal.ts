import { THERMAL_LIMITS, USUAL_SLOWDOWN_MARGIN } from "../thermal-limits.ts";
import type { AlertOptions } from "../options.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { PACE_MILLIS } from "../paces.ts";
import { number, ratio, type AlertDefinition } from "./definition.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const thermal = { group: "thermal", subject: "gpu", everyMillis: PACE_MILLIS.minute } as const;
/** A temperature follows the load and leaves its limit for minutes. All of these times are one alert. */
const warm = {
  ...thermal,
  severity: "warning",
  notify: "ticket",
  forMillis: 5 * MINUTE_MILLIS,
  keepFiringForMillis: 2 * HOUR_MILLIS,
} as const;

/** Alerts about heat and power: current and expected slowdowns. */
export const THERMAL_ALERTS: readonly AlertDefinition[] = [
  {
    ...thermal,
    name: "GPUHardwareThermalSlowdown",
    counters: [["clocks_event_reasons", "clock_events"]],
    severity: "critical",
    notify: "page",
    forMillis: 2 * MINUTE_MILLIS,
    parameters: {
      share: ratio(0.5, "part of 5 minutes in which the hardware slows the clocks down"),
      events: number(5, 1, 10_000, "events that dcgm-exporter counts in its window"),
    },
    expr: (options, { share, events }) => {
      const onGpu = on(keysOf(options).gpu);
      return `${partOfTime(options, "hw_thermal", 5 * MINUTE_MILLIS)} > ${share}
or ${onGpu}
gpu:hw_thermal_events:count >= ${events}`;
    },
    summary: "The hardware slows a GPU down because of heat.",
    description: "The hardware limits the clocks of this GPU because of heat. If it gets hotter, it shuts down.",
  },
  {
    ...thermal,
    name: "GPUSoftwareThermalThrottling",
    counters: [["clocks_event_reasons"]],
    severity: "warning",
    notify: "ticket",
    forMillis: 30 * MINUTE_MILLIS,
    parameters: { share: ratio(0.2, "part of 30 minutes in which the driver slows the clocks down") },
    expr: (options, { share }) => `${partOfTime(options, "sw_thermal", 30 * MINUTE_MILLIS)} > ${share}`,
    summary: "The driver slows a GPU down because of heat.",
    description:
      "For {{ $value | humanizePercentage }} of the last half hour the driver limited the clocks of this GPU because of heat.",
  },
  {
    ...warm,
    name: "GPUNearSlowdownTemperature",
    counters: [["gpu_temperature_celsius"]],
    parameters: { distance: number(4, 0, 30, "degrees below the temperature at which the GPU slows down") },
    expr: (options, { distance }) =>
      `gpu:temperature:celsius >= ${on(keysOf(options).gpu)} gpu:slowdown_temperature:celsius - ${distance}`,
    summary: "A GPU is close to its slowdown temperature.",
    description: "{{ $value }} °C, a few degrees below the slowdown temperature of this GPU.",
  },
  {
    ...warm,
    name: "GPUThermalMarginLow",
    counters: [["temperature_margin_celsius"]],
    parameters: { margin: number(3, -20, 50, "degrees to the GPU's thermal limit") },
    expr: (options, { margin }) => `gpu:temperature_margin:celsius <= ${margin}\n${unlessStuck(options)}`,
    summary: "A GPU is close to its thermal limit.",
    description: "{{ $value }} °C are left to the thermal limit of this GPU.",
  },
  {
    ...thermal,
    name: "GPUThermalMarginExceeded",
    counters: [["temperature_margin_celsius"]],
    severity: "critical",
    notify: "page",
    forMillis: 2 * MINUTE_MILLIS,
    expr: (options) => {
      const onGpu = on(keysOf(options).gpu);
      const others = THERMAL_LIMITS.flatMap(({ models, slowdownMargin = USUAL_SLOWDOWN_MARGIN }) =>
        slowdownMargin === USUAL_SLOWDOWN_MARGIN ? [] : [{ info: `gpu:exporter_gpu:info{${models}}`, slowdownMargin }],
      );
      const usual = others.map(({ info }) => ` unless ${onGpu} ${info}`).join("");
      const branches = [
        `(gpu:temperature_margin:celsius < ${USUAL_SLOWDOWN_MARGIN}${usual})`,
        ...others.map(
          ({ info, slowdownMargin }) => `(gpu:temperature_margin:celsius < ${slowdownMargin} and ${onGpu} ${info})`,
        ),
      ];
      return `(\n${branches.join("\nor\n")}\n)\n${unlessStuck(options)}`;
    },
    summary: "A GPU is hotter than its thermal limit.",
    description:
      "This GPU is above its thermal limit and beyond the margin at which its hardware slows down: {{ $value }} °C of margin.",
  },
  {
    ...thermal,
    name: "GPUMemoryTemperatureHigh",
    counters: [["memory_temperature_celsius"]],
    severity: "warning",
    notify: "ticket",
    forMillis: 10 * MINUTE_MILLIS,
    parameters: {
      distance: number(2, 0, 30, "degrees below the highest temperature for continuous operation of the memory"),
    },
    expr: (options, { distance }) =>
      `gpu:memory_temperature:celsius >= ${on(keysOf(options).gpu)} gpu:memory_max_operating_temperature:celsius - ${distance}`,
    summary: "The memory of a GPU is too warm.",
    description: "{{ $value }} °C, close to the highest temperature for steady work of the memory of this GPU.",
  },
  {
    ...warm,
    name: "HighGPUTemperature",
    counters: [["gpu_temperature_celsius"]],
    parameters: { threshold: number(85, 40, 120, "degrees, for GPUs without a known limit") },
    expr: (options, { threshold }) => {
      const onGpu = on(keysOf(options).gpu);
      return `(
  gpu:temperature:celsius > ${onGpu} gpu:max_operating_temperature:celsius
  or ${onGpu}
  (gpu:temperature:celsius > ${threshold} unless ${onGpu} gpu:max_operating_temperature:celsius)
)
unless ${onGpu} gpu:slowdown_temperature:celsius{limit="own"}
unless ${onGpu} (gpu:temperature_margin:celsius ${unlessStuck(options)})`;
    },
    summary: "A GPU is hot.",
    description: "{{ $value }} °C.",
  },
  {
    ...thermal,
    name: "GPUPowerBrake",
    counters: [["clocks_event_reasons"]],
    severity: "critical",
    notify: "page",
    forMillis: 5 * MINUTE_MILLIS,
    parameters: { share: ratio(0.5, "part of 10 minutes in which the power supply slows the clocks down") },
    expr: (options, { share }) => `${partOfTime(options, "power_brake", 10 * MINUTE_MILLIS)} > ${share}`,
    summary: "The power supply slows a GPU down.",
    description: "An external signal (power brake) limits the clocks of this GPU. The machine or the rack lacks power.",
  },
];

/** Returns the part of a window in which a reason was present. Missing samples count as free of it. */
function partOfTime(options: AlertOptions, reason: string, millis: number): string {
  const samples = millis / options.intervalMillis;
  const set = `count_over_time(gpu:throttle_reason:info{reason="${reason}"}[${millis / MINUTE_MILLIS}m])`;
  return `clamp_max(sum by (${listed(keysOf(options).gpu)}) (${set}) / ${samples}, 1)`;
}

function unlessStuck(options: AlertOptions): string {
  return `unless ${on(keysOf(options).gpu)} gpu:temperature_margin_stuck:info`;
}
