/** What caused the end of a worker process, and how long its supervisor waits before it starts the next one. */
import { describe, expect, it } from '@jest/globals';

import { type ProcessEnd, readDeath } from '../../src/supervisor/death.ts';
import { Journal, toLine, type Unit } from '../../src/supervisor/journal.ts';
import { Backoff } from '../../src/supervisor/supervise.ts';
import { StallMeter } from '../../src/worker/stall.ts';

const unit = (name: string): Unit => ({
  code: 'tool',
  name,
  threadId: 'thread-1',
  work: `thread-1:1:${name}`,
});
const running = [unit('first'), unit('second')];
const end = (given: Partial<ProcessEnd>): ProcessEnd => ({
  code: null,
  signal: null,
  ready: true,
  asked: false,
  leaving: false,
  refusing: false,
  running,
  ...given,
});

describe('the end of a worker process', () => {
  it.each<[string, Partial<ProcessEnd>]>([
    ['SIGKILL of an operator or of the kernel', { signal: 'SIGKILL' }],
    ['SIGTERM', { signal: 'SIGTERM' }],
    ['a SIGTERM of another process', { code: 0, leaving: true }],
  ])('from outside (%s) makes no unit suspect', (_, given) => {
    expect(readDeath(end(given))).toMatchObject({ kind: 'outside' });
  });

  it.each<[string, Partial<ProcessEnd>]>([
    ['a heap that is full', { signal: 'SIGABRT' }],
    ['a fault of native code', { signal: 'SIGSEGV' }],
    ['an unrequested exit', { code: 0 }],
    ['an exit with an error', { code: 1 }],
  ])('of its own (%s) makes all running units suspect, and none guilty', (_, given) => {
    expect(readDeath(end(given))).toMatchObject({ kind: 'own', suspects: running });
    expect(readDeath(end(given))).not.toHaveProperty('culprit.name');
  });

  it('with a culprit named by the watchdog makes no other unit suspect', () => {
    const culprit = { ...unit('second'), stack: 'at spin' };
    const death = readDeath(end({ signal: 'SIGKILL', stall: { forMs: 1000, culprit } }));
    expect(death).toMatchObject({ kind: 'own', culprit, suspects: [] });
    expect(readDeath(end({ signal: 'SIGKILL', stall: { forMs: 1000 } }))).toMatchObject({
      suspects: running,
    });
  });

  it('on request is no crash, and one before readiness is a refusal with its exit code', () => {
    expect(readDeath(end({ code: 0, asked: true }))).toEqual({ kind: 'asked' });
    expect(readDeath(end({ code: 2, ready: false }))).toEqual({ kind: 'refused', exitCode: 2 });
    expect(readDeath(end({ code: 1, refusing: true }))).toEqual({ kind: 'refused', exitCode: 1 });
  });
});

describe('a journal', () => {
  it('lists running units, wherever its text is cut, and skips unreadable lines', () => {
    const journal = new Journal();
    const text = [
      toLine({ kind: 'begin', id: 1, unit: unit('first') }),
      'garbage\n{"kind":"begin","id":7}\n{"kind":"stalled"}\n[]\nnull\n',
      toLine({ kind: 'begin', id: 2, unit: unit('second') }),
      toLine({ kind: 'end', id: 1 }),
    ].join('');
    for (const part of text) journal.read(part);
    expect(journal.running).toEqual([unit('second')]);
    expect(journal.stall).toBeUndefined();
    journal.read(toLine({ kind: 'stalled', forMs: 5, culprit: { ...unit('second'), stack: 's' } }));
    expect(journal.stall).toEqual({ forMs: 5, culprit: { ...unit('second'), stack: 's' } });
  });

  it('lists a unit once if it runs twice, and drops finished lines', () => {
    const journal = new Journal();
    journal.read(toLine({ kind: 'begin', id: 1, unit: unit('first') }));
    journal.read(toLine({ kind: 'begin', id: 2, unit: unit('first') }));
    journal.read('x'.repeat(10_000_000));
    expect(journal.running).toEqual([unit('first')]);
  });
});

describe('a worker process that crashes repeatedly', () => {
  it('is restarted with a doubling delay up to half a minute, reset after a healthy minute', () => {
    const backoff = new Backoff();
    const waits = Array.from({ length: 10 }, () => backoff.next(0));
    expect(waits.slice(0, 4)).toEqual([200, 400, 800, 1600]);
    expect(waits.at(-1)).toBe(30_000);
    expect(backoff.next(60_000)).toBe(200);
    expect(backoff.next(0)).toBe(400);
  });
});

describe('an event loop', () => {
  it('stalls by computing without a turn, and not by waiting, starving or being paused', () => {
    const meter = new StallMeter({ beats: 1, cpuMs: 0 });
    expect(meter.measure({ beats: 1, cpuMs: 900 })).toBe(900);
    expect(meter.measure({ beats: 1, cpuMs: 900 })).toBe(900);
    expect(meter.measure({ beats: 2, cpuMs: 5000 })).toBe(0);
    expect(meter.measure({ beats: 2, cpuMs: 6500 })).toBe(1500);
  });
});
