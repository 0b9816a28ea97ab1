/**
 * The protocol between a host and one of its children: messages of an ended run are dropped, and only a few are
 * tolerated.
 */
import { describe, expect, it } from '@jest/globals';
import { ProtocolChecker } from '../../src/sandbox/host/protocol-checker.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/limits.ts';
import type { FromChild, Job } from '../../src/sandbox/protocol.ts';

const wire = { text: '["x","V"]' };
const remark = (run: number): FromChild => ({ kind: 'remark', run, remark: { kind: 'report', wire } });
const call = (run: number, id: number): FromChild => ({
  kind: 'crossing',
  run,
  crossing: { kind: 'call', id, fn: 1, wire },
});
const settled = (run: number): FromChild => ({
  kind: 'settled',
  run,
  settlement: { status: 'success', wire, held: false },
});
const idle = (run: number): FromChild => ({ kind: 'idle', run, rssBytes: 1 });
const given = (id: number) => ({ kind: 'run', job: { id } as Job }) as const;

/** A child that has run the first run and is given the second. */
function secondRun() {
  const conduct = new ProtocolChecker();
  conduct.receive({ kind: 'ready' });
  conduct.tell(given(1));
  for (const message of [settled(1), idle(1)]) conduct.receive(message);
  conduct.tell(given(2));
  return conduct;
}

describe('a message of a child', () => {
  it('of its run is accepted until that has settled', () => {
    const conduct = new ProtocolChecker();
    conduct.receive({ kind: 'ready' });
    conduct.tell(given(1));
    expect([remark(1), call(1, 1), settled(1)].map((each) => conduct.receive(each))).toEqual([
      'pass',
      'pass',
      'pass',
    ]);
    expect([remark(1), call(1, 2)].map((each) => conduct.receive(each))).toEqual(['drop', 'drop']);
    expect(conduct.receive(idle(1))).toBe('pass');
  });

  it('of the previous run in transit is dropped, and of the current one accepted', () => {
    const conduct = secondRun();
    expect([remark(1), call(1, 7), settled(1)].map((each) => conduct.receive(each))).toEqual([
      'drop',
      'drop',
      'drop',
    ]);
    expect([remark(2), settled(2)].map((each) => conduct.receive(each))).toEqual(['pass', 'pass']);
  });

  it('of ended runs beyond what can be in transit is a violation', () => {
    const conduct = secondRun();
    for (let count = 0; count < SANDBOX_LIMITS.staleMessages; count++) conduct.receive(remark(1));
    expect(() => conduct.receive(remark(1))).toThrow('ended runs');
  });

  it('of a run that it was not given is a violation', () => {
    expect(() => secondRun().receive(remark(3))).toThrow('not its own');
    expect(() => secondRun().receive(idle(1))).toThrow('not its own');
  });
});
