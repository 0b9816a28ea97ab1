/** Tables with a column for each engine, for people; `--json` has the same rows for machines. */
import { cpus, loadavg } from 'node:os';
import { verdictOf } from '../support/report.ts';
import { ENGINES, type EngineName } from './engine.ts';

export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly values: Readonly<Record<EngineName, number>>;
  /** The goal for our engine. */
  readonly atMost?: number;
  readonly note?: string;
}

export function verdictOfRow({ what, unit, values, atMost }: Row): string {
  return verdictOf({ what, unit, value: values.everthread, atMost });
}

export function machine(): string {
  const [load] = loadavg();
  return `${cpus().length} cores, load ${load?.toFixed(2)}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;
}

export function printRows(title: string, rows: readonly Row[]): void {
  printTable(title, [
    ['', ...ENGINES, '', 'goal for ours', 'note'],
    ...rows.map((row) => [
      row.what,
      ...ENGINES.map((name) => format(row.values[name])),
      row.unit,
      row.atMost === undefined ? '' : `<= ${row.atMost} ${verdictOfRow(row)}`,
      row.note ?? '',
    ]),
  ]);
}

export function printTable(title: string, cells: readonly (readonly string[])[]): void {
  console.log(`\n${title}\n`);
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const figures = widths?.map((_, column) =>
    cells.slice(1).every((row) => /^[+<\d.-]+$/.test(row[column] ?? '')),
  );
  for (const row of cells) {
    const line = row.map((cell, column) => {
      const width = widths?.[column] ?? 0;
      return figures?.[column] ? cell.padStart(width) : cell.padEnd(width);
    });
    console.log(line.join('  ').trimEnd());
  }
}

function format(value: number): string {
  if (value < 0.05) return '<0.05';
  if (value >= 1000) return value.toFixed(0);
  return value >= 100 ? value.toFixed(1) : value.toFixed(2);
}
