/** Lines of figures, each with its goal and verdict, as a table for people and JSON for machines. */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';

export interface Line {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The goal: at most this value; absent if the figure is only information. */
  readonly atMost?: number;
  /** The goal: at least this value. */
  readonly atLeast?: number;
  /** How the figure was obtained: spread, number of samples. */
  readonly note?: string;
}

type Verdict = 'met' | 'missed' | '';

export function verdictOf({ value, atMost, atLeast }: Line): Verdict {
  if (atMost === undefined && atLeast === undefined) return '';
  return value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? 0) ? 'met' : 'missed';
}

/** Prints the table, and writes the JSON if `--json FILE` is given. */
export function report(title: string, lines: readonly Line[], file: string | undefined): void {
  const machine = `${cpus().length} cores, load ${loadavg()[0]?.toFixed(2)}, Node ${process.versions.node}`;
  console.log(`\n${title} (${machine})\n`);
  const cells = [['', 'value', 'goal', 'verdict', 'note'], ...lines.map(toCells)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  for (const row of cells) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
  if (file === undefined) return;
  const json = {
    title,
    machine,
    at: new Date().toISOString(),
    lines: lines.map((line) => ({ ...line, verdict: verdictOf(line) })),
  };
  writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`);
}

function toCells(line: Line): string[] {
  const { what, value, unit, atMost, atLeast, note = '' } = line;
  const bound =
    atMost !== undefined ? `<= ${format(atMost)}` : atLeast !== undefined ? `>= ${format(atLeast)}` : '';
  return [what, `${format(value)} ${unit}`, bound, verdictOf(line), note];
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spread(values: readonly number[]): string {
  const [low, high] = [quantile(values, 0.05), quantile(values, 0.95)];
  return `p5 ${low.toFixed(2)}, p95 ${high.toFixed(2)}, n ${values.length}`;
}

export interface BenchOptions {
  readonly json: string | undefined;
  /** True for fewer samples, to check that a bench runs; the figures are not reliable. */
  readonly quick: boolean;
  /** Names of the parts to run; empty for all. */
  readonly only: readonly string[];
}

export function readOptions(): BenchOptions {
  const { values } = parseArgs({
    options: {
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  return { json: values.json, quick: values.quick, only: values.only };
}
