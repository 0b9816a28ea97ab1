/** A gate of stages: their order, what each one receives, and where the gate ends. */
import { describe, expect, it } from '@jest/globals';
import { end, go, openGate, type Verdict } from '../../src/author/policy/gate.ts';

interface Ports {
  readonly visited: string[];
}

function note(name: string) {
  return ({ visited }: Ports, known: object) => {
    visited.push(`${name} ${JSON.stringify(known)}`);
    return go({ [name]: true });
  };
}

function refuseOdd(
  _ports: Ports,
  { number }: { readonly number: number },
): Verdict<{ even: number }, string> {
  return number % 2 === 0 ? go({ even: number }) : end(`${number} is odd`);
}

describe('a gate', () => {
  const gate = openGate<Ports, { readonly number: number }, string>()
    .stage(note('first'))
    .stage(refuseOdd)
    .stage(async (_ports, { even }) => go({ half: even / 2 }))
    .stage(note('last'));

  it('passes each stage what earlier ones added', async () => {
    const visited: string[] = [];
    const passed = await gate.pass({ visited }, { number: 4 });
    expect(visited).toEqual(['first {"number":4}', 'last {"number":4,"first":true,"even":4,"half":2}']);
    expect(passed).toEqual({
      kind: 'go',
      known: { number: 4, first: true, even: 4, half: 2, last: true },
    });
  });

  it('ends with the value of the ending stage, and calls no later stage', async () => {
    const visited: string[] = [];
    expect(await gate.pass({ visited }, { number: 3 })).toEqual({ kind: 'end', end: '3 is odd' });
    expect(visited).toEqual(['first {"number":3}']);
  });

  it('is not changed by adding a stage to it', async () => {
    const short = openGate<Ports, { readonly number: number }, string>();
    short.stage(refuseOdd);
    expect(await short.pass({ visited: [] }, { number: 3 })).toEqual({ kind: 'go', known: { number: 3 } });
  });

  it('throws what a stage throws', async () => {
    const failing = openGate<Ports, object, never>().stage(() => {
      throw new Error('the store is away');
    });
    await expect(failing.pass({ visited: [] }, {})).rejects.toThrow('the store is away');
  });
});
