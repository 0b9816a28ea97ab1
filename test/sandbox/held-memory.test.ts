/**
 * Data that programs make this process keep: weighed before it is read, bounded for each run and for all together. The
 * attacks run against a separate host with a small heap, which must survive.
 */
import { spawn } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { encode, encodeLenient } from '../../src/sandbox/codec/encode.ts';
import { HostFunctions } from '../../src/sandbox/host/host-functions.ts';
import { Intake } from '../../src/sandbox/host/intake.ts';
import { Ledger } from '../../src/sandbox/host/ledger.ts';
import { LogBook } from '../../src/sandbox/host/log-book.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { LOG_ENTRY, TRANSFER } from '../../src/sandbox/limits.ts';
import { isLong } from '../support/long-form.ts';
import type { Flood } from './flooded-worker.ts';
import { openSandbox } from './own-sandbox.ts';

const HEAP_MB = 128;

interface Told {
  readonly status: string;
  readonly logs: number;
  readonly firstLog: string;
  readonly reports: number;
}

/** Runs two programs of a kind at once in a process with a small heap; returns its figures for each, or how it died. */
async function flood(kind: Flood): Promise<Told[] | string> {
  const worker = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, `${import.meta.dirname}/flooded-worker.ts`, kind],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let said = '';
  worker.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    worker.once('close', (...end) => resolve(end as [number | null, string | null])),
  );
  return code === 0 ? (JSON.parse(said) as Told[]) : `died: ${signal ?? code}`;
}

describe('a host with a small heap', () => {
  it.each<Flood>(['long texts', 'many empty arrays', ...(isLong ? (['many empty objects'] as const) : [])])(
    'survives programs that log %s, and keeps the newest',
    async (kind) => {
      const told = await flood(kind);
      expect(told).toEqual([
        {
          status: 'success',
          logs: expect.any(Number),
          firstLog: expect.stringContaining('dropped'),
          reports: 0,
        },
        {
          status: 'success',
          logs: expect.any(Number),
          firstLog: expect.stringContaining('dropped'),
          reports: 0,
        },
      ]);
    },
  );

  it('survives programs that report many empty arrays, and ends them', async () => {
    const told = await flood('reports');
    const ended = { status: 'terminated', logs: 0, firstLog: '', reports: expect.any(Number) };
    expect(told).toEqual([ended, ended]);
  });
});

describe('a console entry', () => {
  it('is truncated where it is written: its texts, and its total size', async () => {
    const { runCode } = openSandbox(1);
    const source = `
      console.log('x'.repeat(1e6));
      console.log(Array.from({ length: 100 }, () => 'y'.repeat(10_000)));
      console.log(new Array(20_000).fill(0));
      console.log('short', { of: ['everything'] });
      export default 1;`;
    const { logs } = await runCode(source);
    const { logTextLength, logEntryBytes } = SANDBOX_LIMITS;
    const [text, list, long, short] = logs.map(({ args }) => args);
    expect(text).toEqual([`${'x'.repeat(logTextLength)}… (${1e6 - logTextLength} characters cut)`]);
    expect(JSON.stringify(list).length).toBeLessThan(logEntryBytes + 4096);
    expect(JSON.stringify(list)).toContain('[Too large]');
    expect(long).toEqual(['[Too large]']);
    expect(short).toEqual(['short', { of: ['everything'] }]);
  });

  it('from a child that exceeds the limit is never read, and costs other runs nothing', () => {
    const account = new Ledger().open();
    const logs = new LogBook(account);
    let read = 0;
    const small = encodeLenient(['small'], LOG_ENTRY);
    const { wire: large } = encode(
      Array.from({ length: 30_000 }, () => []),
      undefined,
      TRANSFER,
    );
    for (let i = 0; i < 3; i += 1) logs.add(0, small);
    logs.add(0, large);
    logs.add(0, { text: 'no JSON' });
    const entries = logs.entries((wire) => {
      read += 1;
      return new Intake(() => undefined).read(wire);
    });
    expect(entries.map(({ args }) => args)).toEqual([
      ['small'],
      ['small'],
      ['small'],
      ['[an entry too large to be kept]'],
      ['[an entry that cannot be read]'],
    ]);
    expect(read).toBe(4);
  });
});

describe('a child that ignores the limits', () => {
  const empty = encode([], undefined, TRANSFER).wire;
  const parts = (ledger = new Ledger()) => ({
    send: () => undefined,
    intake: new Intake(() => undefined),
    account: ledger.open(),
  });
  const call = (id: number, wire = empty) => ({ kind: 'call', id, fn: 1, wire }) as const;

  it('is refused when it sends without waiting for acknowledgement', () => {
    const told: number[] = [];
    const intake = new Intake(({ count }) => told.push(count));
    const wire = encode(
      Array.from({ length: 200_000 }, () => []),
      undefined,
      TRANSFER,
    ).wire;
    // After a long read the intake pauses, and reports nothing in the meantime.
    for (let i = 0; i < 3; i += 1) intake.read(wire);
    const speak = () => {
      for (let i = 0; i <= SANDBOX_LIMITS.untakenMessages; i += 1) intake.take(empty);
    };
    expect(speak).toThrow('it sends without waiting for acknowledgements');
    expect(told).toEqual([]);
    intake.close();
  });

  it('is refused when it makes too many concurrent calls', () => {
    const functions = new HostFunctions(parts());
    functions.table.give(() => new Promise(() => undefined));
    for (let id = 1; id <= SANDBOX_LIMITS.callsInFlight; id += 1) functions.receive(call(id));
    expect(() => functions.receive(call(0))).toThrow('more concurrent calls than allowed');
  });

  it('is refused when its pending calls carry too much in total', () => {
    const functions = new HostFunctions(parts());
    functions.table.give(() => new Promise(() => undefined));
    const { wire } = encode('x'.repeat(SANDBOX_LIMITS.transferBytes - 1024), undefined, TRANSFER);
    expect(() => {
      for (let id = 1; id <= 3; id += 1) functions.receive(call(id, wire));
    }).toThrow('more concurrent calls than allowed');
  });

  it('is refused when it chooses the ids of its functions', () => {
    const { table } = new HostFunctions(parts());
    expect(typeof table.take(1, 'a')).toBe('function');
    expect(() => table.take(SANDBOX_LIMITS.functions + 1, 'a')).toThrow('too many functions');
  });

  it('is refused above the limit of all runs, while each other run keeps a small share', () => {
    const ledger = new Ledger();
    const [greedy, modest] = [ledger.open(), ledger.open()];
    greedy.hold(SANDBOX_LIMITS.heldTogether + SANDBOX_LIMITS.heldByRun);
    expect(() => greedy.hold(1)).toThrow(expect.objectContaining({ code: 'SandboxBusy' }));
    modest.hold(SANDBOX_LIMITS.heldByRun);
    expect(() => modest.hold(1)).toThrow('there is no room for more of this one');
    greedy.release(SANDBOX_LIMITS.heldByRun);
    expect(() => modest.hold(SANDBOX_LIMITS.heldByRun)).not.toThrow();
    greedy.close();
    expect(() => modest.hold(SANDBOX_LIMITS.heldTogether / 2)).not.toThrow();
  });
});
