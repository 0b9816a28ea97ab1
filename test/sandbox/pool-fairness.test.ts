/** Tenants take turns in the pool, and endless programs of one tenant do not keep another from starting. */
import { describe, expect, it } from '@jest/globals';
import { nextTenant } from '../../src/sandbox/host/run-queue.ts';
import { gate, openSandbox, statusOf } from './own-sandbox.ts';

const ENDLESS = 'begin(); for (;;);';

/** Each tenant runs an endless program; resolves when all of them run. */
async function occupy({ sandbox }: ReturnType<typeof openSandbox>, tenants: readonly string[]) {
  const gates = tenants.map(() => gate());
  const runs = tenants.map((tenant, at) =>
    sandbox.scope({ tenant }).runCode(ENDLESS, { globals: { begin: () => void gates[at]?.wait() } }),
  );
  await Promise.all(gates.map(({ reached }) => reached));
  return runs;
}

describe('the queue of the pool', () => {
  it.each([
    ['one tenant', ['a', 'a']],
    ['two tenants', ['a', 'b']],
  ])('lets another tenant start while endless programs of %s occupy every slot', async (_title, tenants) => {
    const own = openSandbox(2);
    const runs = await occupy(own, tenants);
    const another = own.sandbox.scope({ tenant: 'c' });
    expect((await another.runCode('export default 1')).result).toBe(1);
    expect((await another.runCode('export default 2')).result).toBe(2);
    expect(runs.map(({ running }) => running)).toEqual([true, true]);
    for (const run of runs) run.terminate();
    expect((await Promise.all(runs)).map(statusOf)).toEqual([
      'terminated Terminated',
      'terminated Terminated',
    ]);
  });

  it('serves a tenant with one program before the rest of a tenant with many', async () => {
    const { sandbox } = openSandbox(1);
    const first = gate();
    const begun: string[] = [];
    const begin = (name: string) => void begun.push(name);
    const run = (tenant: string, name: string) =>
      sandbox.scope({ tenant }).runCode(`await begin('${name}'); export default 1;`, { globals: { begin } });
    const held = sandbox.scope({ tenant: 'a' }).runCode('await wait()', { globals: { wait: first.wait } });
    await first.reached;
    const many = [1, 2, 3, 4, 5].map((n) => run('a', `a${n}`));
    const one = run('b', 'b');
    first.open();
    await Promise.all([held, ...many, one]);
    expect(begun.indexOf('b')).toBeLessThanOrEqual(1);
    // The order within a tenant is kept.
    expect(begun.filter((name) => name !== 'b')).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  });

  it('reports when a run starts, and when it ended before', async () => {
    const own = openSandbox(1);
    const first = gate();
    const run = own.runCode('await wait()', { globals: { wait: first.wait } });
    expect(await run.begun).toBe(true);
    await first.reached;
    const waiting = own.runCode('export default 1');
    waiting.terminate('not needed');
    expect(await waiting.begun).toBe(false);
    const bad = own.runCode('export default 1', { language: 'python' } as never);
    expect([await bad.begun, statusOf(await bad)]).toEqual([false, 'link_error InvalidCodeExecutionOptions']);
    first.open();
    await run;
  });
});

describe('the next tenant', () => {
  const taken = (counts: Record<string, number>) => new Map(Object.entries(counts));

  it.each([
    ['the first in turn, if no slot is taken', ['a', 'b'], {}, 0, 'a'],
    ['the one with fewer slots', ['a', 'b'], { a: 1 }, 0, 'b'],
    ['none, if every slot is taken', ['c'], { a: 1, b: 1 }, 0, undefined],
    ['one that holds none, for a place that was kept for long', ['c'], { a: 2 }, 1, 'c'],
    ['not one that holds a place already', ['a'], { a: 1, b: 1 }, 2, undefined],
    ['one more for each place that was kept for long', ['d'], { a: 1, b: 1, c: 1 }, 2, 'd'],
    ['but as many again as the size at the most', ['e'], { a: 1, b: 1, c: 1, d: 1 }, 4, undefined],
  ])('%s', (_title, turns, counts, long, next) => {
    expect(nextTenant(turns, { size: 2, taken: taken(counts as Record<string, number>), long })).toBe(next);
  });
});
