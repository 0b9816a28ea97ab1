/** The log when the same error happens ten thousand times. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { INTERVAL_MS, LogFlood } from '../../../src/cli/output/log-flood.ts';
import { createLogger } from '../../../src/cli/output/logger.ts';
import { eventually } from '../../support/eventually.ts';

const warning = (thread: string, message = 'Failing workflow task') => ({ level: 'WARN', message, thread });

function admitMany(
  flood: LogFlood,
  count: number,
  now: number,
  entry = (n: number) => warning(`thread-${n % 30}`),
) {
  return Array.from({ length: count }, (_, n) => flood.admit(entry(n), now)).filter(Boolean).length;
}

describe('entries of one kind', () => {
  it('[log F1] are printed twenty times per interval, and the rest is one line with its count and threads', () => {
    const flood = new LogFlood();
    expect(admitMany(flood, 10_000, 0)).toBe(20);
    expect(flood.collect(INTERVAL_MS - 1)).toEqual([]);
    expect(flood.collect(INTERVAL_MS)).toEqual([
      {
        level: 'WARN',
        message: 'Failing workflow task',
        repeated: 9980,
        threads: '30',
        among: ['thread-20', 'thread-21', 'thread-22', 'thread-23', 'thread-24'],
      },
    ]);
    expect(flood.holds).toBe(false);
  });

  it('[log F1] start again with the next interval', () => {
    const flood = new LogFlood();
    expect(admitMany(flood, 20, 0)).toBe(20);
    expect(admitMany(flood, 20, INTERVAL_MS)).toBe(20);
    expect(admitMany(flood, 20, INTERVAL_MS + 1)).toBe(0);
    expect(flood.collect(2 * INTERVAL_MS)).toMatchObject([{ repeated: 20 }]);
    expect(admitMany(flood, 20, 2 * INTERVAL_MS)).toBe(20);
  });

  it('[log F1] are the same if their messages differ only in threads, numbers or files', () => {
    const flood = new LogFlood();
    const told = admitMany(flood, 100, 0, (n) =>
      warning('one', `Thread th-${n} took ${n} ms for "file ${n}"`),
    );
    expect(told).toBe(20);
  });

  it('[log F1] differ by level or component', () => {
    const flood = new LogFlood();
    admitMany(flood, 100, 0);
    expect(flood.admit({ ...warning('thread-1'), level: 'ERROR' }, 0)).toBe(true);
    expect(flood.admit({ ...warning('thread-1'), part: 'core' }, 0)).toBe(true);
  });

  it('[log F2] are limited in memory, and still counted', () => {
    const flood = new LogFlood();
    const letters = (n: number) => [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    const told = admitMany(flood, 5000, 0, (n) => warning(`thread-${n}`, `message ${letters(n)}`));
    expect(told).toBe(1020);
    expect(flood.collect()).toMatchObject([
      { message: 'entries of many kinds', repeated: 3980, threads: '1000+' },
    ]);
  });
});

describe('the log of a worker', () => {
  const counted = (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Number(/repeated=(\d+)/.exec(line)?.[1] ?? 1), 0);

  it('[log L3] prints or counts every error in a few lines, though nothing more happens', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', format: 'text' }, (line) => lines.push(line), 50);
    for (let n = 0; n < 10_000; n += 1) logger.error('Worker failed', { workflowId: `thread-${n % 7}` });
    await eventually('the count', () => counted(lines) === 10_000);
    const [count] = lines.filter((line) => line.includes('More of the same'));
    expect(count).toMatch(/ ERROR More of the same: Worker failed repeated=\d+ threads=7 among=\[/);
  });

  it('[log L3] prints its counts when the process ends', async () => {
    const logger = fileURLToPath(new URL('../../../src/cli/output/logger.ts', import.meta.url));
    const program = `import { createLogger } from ${JSON.stringify(logger)};
      const { warn } = createLogger({ level: 'warn', format: 'text' });
      for (let n = 0; n < 10_000; n += 1) warn('Failing workflow task', { workflowId: 'thread-' + n });`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .filter((line) => line.includes(' WARN '));
    expect(counted(lines)).toBe(10_000);
    expect(lines.length).toBeLessThan(100);
  });

  it('[log L3] suppresses nothing at the debug level', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'debug', format: 'text' }, (line) => lines.push(line));
    for (let n = 0; n < 500; n += 1) logger.warn('Failing workflow task');
    expect(lines).toHaveLength(500);
  });
});
