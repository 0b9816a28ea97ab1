/**
 * Prints findings about hostile programs: a line for each program and engine, and how many programs each engine held.
 */
import { ENGINES } from './engine.ts';
import type { Finding } from './hostile.ts';
import { printTable } from './table.ts';

export function printFindings(findings: readonly Finding[]): void {
  let last = '';
  const lines = findings.map((finding) => {
    const { program, engine, verdict, how, answeredMs, quietMs, peakMib, hostMib, stallMs, servesOn } =
      finding;
    const name = program === last ? '' : program;
    last = program;
    return [
      name,
      engine,
      verdict,
      rounded(answeredMs),
      rounded(quietMs),
      `+${rounded(peakMib)}`,
      `+${rounded(hostMib)}`,
      rounded(stallMs),
      servesOn === undefined ? '-' : servesOn ? 'yes' : 'NO',
      how,
    ];
  });
  const head = [
    '',
    '',
    'verdict',
    'answer ms',
    'quiet ms',
    'peak MiB',
    'host MiB',
    'stall ms',
    'serves on',
    'how',
  ];
  printTable('What gets through: limit 32 MiB, deadline 200 ms', [head, ...lines]);
  console.log(`
answer: until the host had it; quiet: until nothing ran any more; peak: growth of the process that grew most;
host: growth of the host's process; stall: how long the host's event loop stood still; serves on: the next call works
`);
  const programs = findings.length / ENGINES.length;
  const counts = ENGINES.map((name) => {
    const held = findings.filter(({ engine, verdict }) => engine === name && verdict === 'held');
    return `${name} ${held.length}`;
  });
  console.log(`held, of ${programs}: ${counts.join(', ')}`);
}

function rounded(value: number | undefined): string {
  return value === undefined ? '-' : value.toFixed(0);
}
