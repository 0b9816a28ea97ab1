/** A few lines of a source around a position, as compilers show them. */

const BEFORE = 2;
const AFTER = 1;
const WIDTH = 100;

/** `line` and `column` count from 1. Long lines are cut around the column. */
export function codeFrame(source: string, line: number, column?: number): string {
  const lines = source.split(/\r?\n/);
  const first = Math.max(1, line - BEFORE);
  const last = Math.min(lines.length, line + AFTER);
  const digits = String(last).length;
  const start = column === undefined || column <= WIDTH ? 0 : column - Math.floor(WIDTH / 2);
  const shown: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = (lines[number - 1] ?? '').slice(start, start + WIDTH).replaceAll('\t', ' ');
    const mark = number === line ? '>' : ' ';
    shown.push(`${mark} ${String(number).padStart(digits)} | ${text}`.trimEnd());
    if (number === line && column !== undefined) {
      shown.push(`  ${' '.repeat(digits)} | ${' '.repeat(Math.max(0, column - 1 - start))}^`);
    }
  }
  return shown.join('\n');
}
