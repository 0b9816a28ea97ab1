/** Figures that a suite measures during its tests, printed as one table at the end. */

export interface Figures {
  add(...cells: readonly (string | number)[]): void;
  print(): void;
}

export function createFigures(...heading: readonly string[]): Figures {
  const rows: string[][] = [[...heading]];
  return {
    add: (...cells) => void rows.push(cells.map((cell) => (typeof cell === 'number' ? shown(cell) : cell))),
    print() {
      const widths = heading.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
      const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
      process.stdout.write(`\n${lines.join('\n')}\n\n`);
    },
  };
}

const shown = (figure: number): string => (Number.isInteger(figure) ? `${figure}` : figure.toFixed(1));
